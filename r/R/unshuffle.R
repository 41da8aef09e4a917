# `unshuffle()`: a fit of a formula and a data frame.

# Regression after record linkage: samples the coefficients and the links.
unshuffle <- function(formula, data, block = NULL, safe = NULL, audit = NULL, model = "linear", ..., weights = NULL,
                      threads = NULL, folder = NULL, force = FALSE, resume = FALSE, quiet = !interactive()) {
  call <- match.call()
  formula <- stats::as.formula(formula)
  if (!is.data.frame(data)) {
    fail("data must be a data frame with one row for each link")
  }
  if (is.null(folder)) {
    folder <- tempfile("unshuffle_")
  }
  # Two folders, as a fit never writes beside its own data.
  input <- new_folder(file.path(folder, "input"))
  output <- file.path(dirname(input), "output")
  facts <- list(block = block, safe = safe, weights = weights_entry(weights))
  config <- list(model = model_section(model), data = facts, output = output)
  config <- place_entries(config, list(...))
  if (!is.null(audit)) {
    config <- with_audit(config, audit)
  }
  config <- with_data(config, formula, as.data.frame(data), input)
  path <- file.path(input, "fit.json")
  write_config(drop_null(config), path)

  options <- c(
    if (force) "--force", if (resume) "--resume", if (quiet) "--quiet",
    if (!is.null(threads)) c("--threads", threads)
  )
  run_unshuffle(c("fit", path, options), progress = !quiet)
  remove_old_input(input, config)
  fit <- load_unshuffle(output)
  fit$call <- call
  fit$formula <- formula
  fit
}

new_folder <- function(folder) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  if (!dir.exists(folder)) {
    fail(sprintf("cannot make the folder %s; give another one with folder = ", folder))
  }
  normalizePath(folder)
}

# A program of the user's own is a path, which is relative to R's working folder.
model_section <- function(model) {
  section <- if (is.list(model)) model else list(stan = model)
  if (grepl("\\.stan$", section$stan)) {
    section$stan <- existing(section$stan, "Stan program")
  }
  section
}

existing <- function(path, what) {
  if (!file.exists(path)) {
    fail(sprintf("cannot find the %s %s in %s", what, path, getwd()))
  }
  normalizePath(path)
}

# Writes the data and says in the config where they are and what they mean.
with_data <- function(config, formula, data, input) {
  facts <- config$data
  marked <- with_categories(without_dot(formula, data, not_predictors(facts)), data)
  response <- all.vars(marked[[2]])
  zero_one <- Filter(function(name) is.logical(data[[name]]), intersect(response, names(data)))
  facts$file <- keep_file(input, "data", function(path) write_data(data, path, zero_one))
  # The data frame itself keeps what a CSV file does not, such as the order of levels.
  saveRDS(data, sub("csv$", "rds", facts$file))
  facts$formula <- formula_text(marked)
  facts$reference <- utils::modifyList(first_levels(marked, data), as.list(facts$reference))
  facts$candidates <- candidates_path(facts$candidates, input)
  config$data <- facts
  # The title of the report.
  if (is.null(config$name)) {
    config$name <- formula_text(formula)
  }
  config
}

# Columns that say something of the links or of a survey, so that `.` in a formula does not mean them.
not_predictors <- function(facts) {
  c(unlist(facts[c("id", "block", "safe", "match_probability")], use.names = FALSE), survey_columns(facts))
}

candidates_path <- function(candidates, input) {
  if (is.data.frame(candidates)) {
    keep_file(input, "candidates", function(path) write_data(candidates, path))
  } else if (is.character(candidates)) {
    existing(candidates, "file of candidates")
  }
}

# Writes a file whose name has a hash of its content: a refit that fails leaves the data of the earlier fit as they were, and
# a fit that is resumed finds its own.
keep_file <- function(input, name, write) {
  new <- file.path(input, paste0(name, ".new"))
  write(new)
  path <- file.path(input, sprintf("%s_%s.csv", name, substr(tools::md5sum(new), 1, 12)))
  file.rename(new, path)
  path
}

remove_old_input <- function(input, config) {
  used <- c(config$data$file, sub("csv$", "rds", config$data$file), config$data$candidates)
  files <- list.files(input, pattern = "^(data|candidates)_[0-9a-f]+\\.(csv|rds)$", full.names = TRUE)
  unlink(setdiff(files, used))
}

drop_null <- function(entries) {
  entries <- Filter(Negate(is.null), entries)
  entries$data <- Filter(function(entry) length(entry) > 0, entries$data)
  entries
}
