# The config of a fit: entries by their names, put into the sections that `unshuffle schema` knows.

SECTIONS <- c("model", "data", "permutation", "sampler")

# `entries` holds whole sections (`sampler = list(draws = 500)`) and single entries (`draws = 500`).
place_entries <- function(config, entries) {
  if (length(entries) == 0) {
    return(config)
  }
  if (is.null(names(entries)) || any(names(entries) == "")) {
    fail("arguments after `model` need a name, such as draws = 500")
  }
  places <- entry_places()
  for (name in names(entries)) {
    if (name %in% SECTIONS) {
      config[[name]] <- utils::modifyList(as.list(config[[name]]), as.list(entries[[name]]))
    } else if (name %in% places$top) {
      config[name] <- list(entries[[name]])
    } else {
      section <- names(Filter(function(keys) name %in% keys, places$of_section))
      check_entry(name, section, places)
      config[[section]][name] <- list(entries[[name]])
    }
  }
  config
}

entry_places <- function() {
  schema <- jsonlite::fromJSON(paste(run_unshuffle("schema"), collapse = "\n"), simplifyVector = FALSE)
  # A schema has a section in its place or among its definitions.
  keys <- function(section) {
    entry <- schema$properties[[section]]
    if (!is.null(entry[["$ref"]])) {
      entry <- schema[["$defs"]][[basename(entry[["$ref"]])]]
    }
    names(entry$properties)
  }
  list(
    top = setdiff(names(schema$properties), c(SECTIONS, "$schema", "output", "versions")),
    of_section = stats::setNames(lapply(SECTIONS, keys), SECTIONS)
  )
}

check_entry <- function(name, section, places) {
  if (length(section) > 1) {
    fail(sprintf(
      "`%s` is an entry of %s; say which with %s = list(%s = ...)",
      name, paste(section, collapse = " and of "), section[1], name
    ))
  }
  if (length(section) == 0) {
    known <- c(places$top, unlist(places$of_section, use.names = FALSE))
    near <- known[which.min(utils::adist(name, known))]
    fail(sprintf("`%s` is no entry of a config; the nearest name is `%s`, and `unshuffle schema` has them all", name, near))
  }
}

# What an audit found, as c(checked, wrong) or as a list with names.
audit_entry <- function(audit) {
  if (is.null(names(audit))) {
    if (length(audit) != 2) {
      fail("audit is c(checked, wrong): how many links were checked by hand, and how many of them were wrong")
    }
    names(audit) <- c("checked", "wrong")
  }
  as.list(audit)
}

with_audit <- function(config, audit) {
  prior <- config$permutation$prior
  if (is.null(prior)) {
    prior <- list(name = "beta_binomial")
  }
  prior$audit <- audit_entry(audit)
  config$permutation$prior <- prior
  config
}

# Survey weights are named, as every column here; lm() takes them as numbers.
weights_entry <- function(weights) {
  is_name <- is.character(weights) && length(weights) == 1
  if (!is.null(weights) && !is_name && !is.list(weights)) {
    fail("weights is the name of a column of data, or list(column = , with = , scale = )")
  }
  weights
}

# The columns of a survey: its weights, strata and clusters.
survey_columns <- function(data) {
  weights <- if (is.list(data$weights)) data$weights$column else data$weights
  c(weights, data$strata, data$clusters)
}

write_config <- function(config, path) {
  writeLines(jsonlite::toJSON(config, auto_unbox = TRUE, null = "null", digits = NA, pretty = TRUE), path, useBytes = TRUE)
}

read_json <- function(path) {
  if (file.exists(path)) jsonlite::fromJSON(path) else NULL
}
