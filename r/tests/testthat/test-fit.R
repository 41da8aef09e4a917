# Lines of the file that do not depend on when and where the fit ran.
lasting_lines <- function(path) {
  lines <- readLines(path)
  lines[!grepl("^# .*seconds \\(|^#   file = ", lines)]
}

test_that("R and the command line give the same draws and links", {
  fit <- engel_fit()
  folder <- new_test_folder()
  write.csv(engel, file.path(folder, "engel.csv"), row.names = FALSE, quote = FALSE)
  config <- '{"model": {"stan": "linear"},
    "data": {"file": "engel.csv", "response": "log_food", "predictors": ["log_income"], "id": "household"},
    "sampler": {"chains": 2, "warmup": 300, "draws": 300, "seed": 5}, "output": "out"}'
  path <- file.path(folder, "engel.json")
  writeLines(config, path)
  status <- system2(unshuffle_binary(), c("fit", shQuote(path), "--quiet"), stdout = FALSE, stderr = FALSE)
  expect_equal(status, 0)
  for (name in c("draws_1.csv", "draws_2.csv")) {
    lines <- lasting_lines(file.path(fit$folder, name))
    expect_gt(length(lines), 300)
    expect_identical(lines, lasting_lines(file.path(folder, "out", name)))
  }
  for (name in c("links_1.csv", "links_2.csv", "rows.csv", "coefficients.csv")) {
    expect_identical(readLines(file.path(fit$folder, name)), readLines(file.path(folder, "out", name)))
  }
  of_command_line <- quietly(load_unshuffle(file.path(folder, "out")))
  expect_identical(coef(of_command_line), coef(fit))
  expect_equal(formula(of_command_line), log_food ~ log_income, ignore_attr = TRUE)
})

test_that("another seed gives other draws", {
  other <- quietly(unshuffle(log_food ~ log_income, engel, chains = 2, warmup = 300, draws = 300, seed = 6))
  expect_false(identical(coef(other), coef(engel_fit())))
})

test_that("a fit in a folder of the user's can be loaded, replaced and added to", {
  folder <- new_test_folder()
  fit <- quietly(quick(log_food ~ log_income, engel, folder = folder))
  loaded <- quietly(load_unshuffle(folder))
  expect_identical(coef(loaded), coef(fit))
  expect_identical(loaded$data, engel)
  expect_error(quick(log_food ~ log_income, engel, folder = folder), "force", class = "unshuffle_error")
  fewer <- engel[1:200, ]
  again <- quietly(quick(log_food ~ log_income, fewer, folder = folder, force = TRUE))
  expect_equal(nobs(again), 200)
  expect_length(list.files(file.path(folder, "input"), pattern = "csv$"), 1)
  longer <- quietly(unshuffle(
    log_food ~ log_income, fewer, chains = 2, warmup = 300, draws = 400, seed = 5, folder = folder, resume = TRUE
  ))
  expect_equal(dim(unshuffle:::draws_array(longer))[1], 400)
})

test_that("a refit that fails leaves the earlier fit and its data as they were", {
  folder <- new_test_folder()
  fit <- quietly(quick(log_food ~ log_income, engel, folder = folder))
  broken <- transform(engel, log_income = NA)
  expect_error(quick(log_food ~ log_income, broken, folder = folder, force = TRUE), "missing values", class = "unshuffle_error")
  loaded <- quietly(load_unshuffle(folder))
  expect_identical(loaded$data, engel)
  expect_length(completed(loaded, m = 2)$imputations, 2)
})

test_that("a model may be a list with entries for its Stan program", {
  model <- list(stan = "quantile", family = list(name = "asymmetric_laplace", tau = 0.25))
  fit <- quietly(quick(log_food ~ log_income, engel, model = model))
  expect_equal(fit$config$model$family$tau, 0.25)
  expect_gt(mean(fit$rows$response > fit$rows$fitted), 0.6)
})

test_that("what is known of the links reaches the config", {
  known <- transform(engel, region = rep(1:5, 47), checked = household <= 20)
  candidates <- data.frame(row = c(1, 2), partner = c(6, 7))
  fit <- quietly(quick(
    log_food ~ ., known[c("log_food", "log_income", "region", "checked", "household")],
    block = "region", safe = "checked", audit = c(100, 7), id = "household", target_accept = 0.9
  ))
  expect_equal(fit$columns$predictor_names, c("(Intercept)", "log_income"))
  expect_equal(fit$config$permutation$prior$audit[c("checked", "wrong")], list(checked = 100L, wrong = 7L))
  expect_equal(fit$config$sampler$target_accept, 0.9)
  expect_true(all(fit$rows$p_moved[known$checked] == 0))
  links <- read.csv(file.path(fit$folder, "links_1.csv"))
  expect_gt(nrow(links), 0)
  expect_identical(links$row %% 5, links$linked_to %% 5)

  few <- quietly(quick(log_food ~ log_income, known, candidates = candidates))
  expect_true(all(few$rows$p_moved[-c(1, 2, 6, 7)] == 0))
})

# A third of the rows lie on another line; the weights know which.
weighted_rows <- function(n = 120) {
  set.seed(4)
  data <- data.frame(x = stats::rnorm(n), w = rep(c(1, 1.5, 0.001), length.out = n), area = rep(1:2, length.out = n))
  data$y <- ifelse(data$w < 0.01, -1, 1) * data$x + stats::rnorm(n, 0, 0.3)
  data
}

test_that("survey weights are those of lm() where every link is kept, and no predictor of a dot", {
  data <- weighted_rows()
  fit <- quietly(quick(y ~ ., data, weights = "w", strata = "area", update = list(name = "none")))
  expect_equal(fit$columns$predictor_names, c("(Intercept)", "x"))
  expect_equal(fit$config$data$weights, list(column = "w", with = "predictors", scale = "as_given"))
  expected <- coef(lm(y ~ x, data, weights = w))
  found <- fit$posterior$Mean[match(c("beta.1", "beta.2"), fit$posterior$name)]
  expect_equal(found, unname(expected), tolerance = 0.1)
  # Without weights the slope is another one.
  expect_gt(abs(coef(lm(y ~ x, data))[["x"]] - expected[["x"]]), 0.4)
  report <- paste(readLines(unshuffle_report(fit), warn = FALSE), collapse = " ")
  expect_match(report, "Intervals do not know the design of the survey", fixed = TRUE)
})

test_that("weights of the response move with it into completed data sets", {
  data <- weighted_rows()
  data <- data[data$w > 0.01, ]
  wrong <- 1:24
  data$y[wrong] <- data$y[c(2:24, 1)]
  for (with in c("response", "predictors")) {
    fit <- quietly(quick(y ~ x, data, weights = list(column = "w", with = with)))
    set <- completed(fit, m = 1)$imputations[[1]]
    of_response <- match(set$y, data$y)
    of_predictors <- match(set$x, data$x)
    expect_false(identical(data$w[of_response], data$w[of_predictors]))
    expect_identical(set$w, data$w[if (with == "response") of_response else of_predictors])
  }
})

test_that("weights are named, not given", {
  expect_error(
    quick(log_food ~ log_income, engel, weights = rep(1, nrow(engel))),
    "weights is the name of a column of data", class = "unshuffle_error"
  )
})
