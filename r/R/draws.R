# Draws of the joint posterior, from the CSV files of the chains.

# Columns of the sampler, which end in two underscores; of them `lp__` is a quantity of the model.
is_of_sampler <- function(names) grepl("__$", names) & names != "lp__"

# The draws of all chains as an array: iteration, chain, variable.
draws_array <- function(fit) {
  check_folder(fit)
  files <- list.files(fit$folder, pattern = "^draws_[0-9]+\\.csv$")
  if (length(files) == 0) {
    fail(sprintf("%s has no draws", fit$folder))
  }
  chains <- sort(as.integer(gsub("\\D", "", files)))
  draws <- lapply(file.path(fit$folder, sprintf("draws_%d.csv", chains)), read_chain)
  lengths <- vapply(draws, nrow, integer(1))
  if (any(lengths != lengths[1])) {
    warn(sprintf("the chains have %s draws; the first %d of each are used", paste(lengths, collapse = ", "), min(lengths)))
    draws <- lapply(draws, function(chain) chain[seq_len(min(lengths)), , drop = FALSE])
  }
  names <- variable_names(fit, colnames(draws[[1]]))
  array <- simplify2array(draws)
  array <- aperm(array, c(1, 3, 2))
  dimnames(array) <- list(iteration = NULL, chain = chains, variable = names)
  array
}

read_chain <- function(path) {
  table <- utils::read.csv(path, comment.char = "#", check.names = FALSE)
  # The number of moved rows and the rate are quantities of the model under the sampler's names.
  for (name in c("n_moved", "mismatch_rate")) {
    hidden <- paste0(name, "__")
    if (!name %in% names(table) && hidden %in% names(table)) {
      names(table)[names(table) == hidden] <- name
    }
  }
  as.matrix(table[!is_of_sampler(names(table))])
}

# The program's names of the coefficients, under the user's names of them.
coefficient_columns <- function(fit) {
  own <- as.character(fit$estimates$name[fit$estimates$method == method_of_draws(fit)])
  predictors <- fit$columns$predictor_names
  responses <- fit$columns$response_names
  columns <- paste0("beta.", seq_along(predictors))
  names <- predictors
  if (!is.null(responses)) {
    columns <- paste0(columns, ".", rep(seq_along(responses), each = length(predictors)))
    names <- paste0(rep(responses, each = length(predictors)), ": ", predictors)
  }
  # A program without one `beta` for each predictor has estimates under its own names.
  if (!all(columns %in% fit$posterior$name)) {
    columns <- names <- own
  }
  stats::setNames(columns, names)
}

# Names of draws as a user of R knows them: `log_income` for `beta.2`, and `L[1,2]` for `L.1.2`.
variable_names <- function(fit, columns) {
  known <- coefficient_columns(fit)
  # A predictor that has the name of another parameter leaves the coefficient its name in the program.
  known <- known[!names(known) %in% columns]
  place <- match(columns, known)
  indexed <- sub("\\.([0-9.]+)$", "[\\1]", columns)
  indexed <- ifelse(indexed == columns, columns, gsub(".", ",", indexed, fixed = TRUE))
  ifelse(is.na(place), indexed, names(known)[place])
}

# A matrix with one column for each coefficient.
coefficient_draws <- function(fit) {
  array <- draws_array(fit)
  columns <- coefficient_columns(fit)
  chosen <- array[, , variable_names(fit, columns), drop = FALSE]
  matrix(chosen, ncol = length(columns), dimnames = list(NULL, names(columns)))
}

as_draws.unshuffle <- function(x, ...) as_draws_array.unshuffle(x)

as_draws_array.unshuffle <- function(x, ...) posterior::as_draws_array(draws_array(x))

as_draws_df.unshuffle <- function(x, ...) posterior::as_draws_df(as_draws_array.unshuffle(x))

as_draws_list.unshuffle <- function(x, ...) posterior::as_draws_list(as_draws_array.unshuffle(x))

as_draws_matrix.unshuffle <- function(x, ...) posterior::as_draws_matrix(as_draws_array.unshuffle(x))

as_draws_rvars.unshuffle <- function(x, ...) posterior::as_draws_rvars(as_draws_array.unshuffle(x))
