# A finished fit from its folder.

# Reads the folder of a fit, also of one that was made by the command line or by Python.
load_unshuffle <- function(folder) {
  folder <- fit_folder(folder)
  file <- function(name) file.path(folder, name)
  config <- read_json(file("config.json"))
  structure(
    class = "unshuffle",
    list(
      call = NULL,
      formula = config_formula(config$data),
      folder = folder,
      config = config,
      verdict = verdict(folder),
      estimates = read_table(file("coefficients.csv")),
      posterior = read_table(file("summary.csv")),
      rows = read_table(file("rows.csv")),
      trust = read_json(file("trust.json")),
      diagnostics = read_json(file("diagnostics.json")),
      columns = read_json(file("data.json"))[c("num_rows", "predictor_names", "response_names")],
      data = read_data_frame(config$data)
    )
  )
}

# A fit by R has its files in the folder `output` of the one that was given.
fit_folder <- function(folder) {
  folders <- c(folder, file.path(folder, "output"))
  found <- folders[file.exists(file.path(folders, "config.json"))]
  if (length(found) == 0) {
    fail(sprintf("%s is not the folder of a fit: it has no config.json", folder))
  }
  normalizePath(found[1])
}

read_table <- function(path) {
  if (file.exists(path)) utils::read.csv(path, check.names = FALSE, encoding = "UTF-8") else NULL
}

# What the program says of the fit, in its own words: the first paragraph of its summary.
verdict <- function(folder) {
  without <- FALSE
  note <- function(warning) {
    without <<- without || grepl("^no verdict", conditionMessage(warning))
  }
  printed <- withCallingHandlers(run_unshuffle(c("summary", folder)), unshuffle_warning = note)
  if (without) character() else printed[cumsum(printed == "") == 0]
}

# NULL where an entry is no formula that R can read.
config_formula <- function(data) {
  text <- data$formula
  if (is.null(text)) {
    response <- data$response
    left <- if (length(response) > 1) sprintf("cbind(%s)", paste(response, collapse = ", ")) else response
    terms <- c(data$predictors, if (!data$intercept) "-1")
    text <- paste(left, "~", paste(terms, collapse = " + "))
  }
  tryCatch(stats::as.formula(text, env = baseenv()), error = function(error) NULL)
}

# The data frame that was fitted, where R made the fit.
read_data_frame <- function(data) {
  path <- if (is.null(data$file)) "" else sub("csv$", "rds", data$file)
  if (grepl("\\.rds$", path) && file.exists(path)) readRDS(path) else NULL
}

# The files of a fit in R's temporary folder go with the session.
check_folder <- function(fit) {
  if (!dir.exists(fit$folder)) {
    fail(sprintf(
      "the folder of this fit, %s, is gone; fit again with folder = \"...\" to keep it, and load it with load_unshuffle()",
      fit$folder
    ))
  }
}
