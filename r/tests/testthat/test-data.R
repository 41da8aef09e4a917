# lm() is the reference: the program's own least squares must see the design matrix that R would build.
same_as_lm <- function(formula, data, ...) {
  fit <- quietly(quick(formula, data, update = list(name = "none"), ...))
  found <- least_squares(fit)
  expected <- coef(lm(formula, data))
  expect_equal(unname(sort(found)), unname(sort(expected)), tolerance = 1e-8)
  invisible(fit)
}

test_that("factors keep their first level as reference, also where the levels are numbers", {
  fit <- same_as_lm(log(wage) ~ educ + grade + sector, workers())
  expect_equal(fit$columns$predictor_names, c("(Intercept)", "educ", "grade[1]", "grade[3]", "sector[other]", "sector[services]"))
})

test_that("logical and character columns, interactions and names with spaces are as in lm()", {
  same_as_lm(log(wage) ~ union * educ + sex + `hours worked`, workers())
})

test_that("a dot stands for the columns that say nothing of the links, and factor() for C()", {
  data <- workers()[c("wage", "educ", "union")]
  data$region <- rep(1:2, length.out = nrow(data))
  fit <- quietly(quick(log(wage) ~ ., data, block = "region"))
  expect_equal(fit$columns$predictor_names, c("(Intercept)", "educ", "union[TRUE]"))
  expect_equal(fit$formula, log(wage) ~ ., ignore_attr = TRUE)
  same_as_lm(log(wage) ~ educ + factor(region), data)
})

test_that("rows with missing values are left out when asked, and a level that goes with them is no reference", {
  data <- workers()
  data$sector[3:5] <- "none"
  data$sector <- relevel(data$sector, "none")
  data$educ[3:5] <- NA
  expect_error(quick(log(wage) ~ educ + sector, data), "missing values in `educ` \\(3", class = "unshuffle_error")
  fit <- same_as_lm(log(wage) ~ educ + sector, data, missing = "drop")
  expect_equal(nobs(fit), nrow(data) - 3)
})

test_that("numbers and texts reach the program as they are", {
  numbers <- c(0.1, 1 / 3, 1e-300, 123456789.123456789, -2^60, 1e22)
  expect_identical(as.numeric(unshuffle:::number_text(numbers)), numbers)
  expect_identical(unshuffle:::number_text(0.1), "0.1")
  path <- tempfile()
  data <- data.frame(a = c("x,y", "say \"no\"", NA), b = c(1.5, NA, 1 / 3), d = as.Date("2026-01-02") + 0:2)
  data$list <- list(1, 2, 3)
  unshuffle:::write_data(data, path)
  back <- read.csv(path, na.strings = "")
  expect_identical(names(back), c("a", "b", "d"))
  expect_identical(back$a, data$a)
  expect_identical(back$b, data$b)
  expect_identical(back$d, as.character(data$d))
})

test_that("a yes-or-no response may be logical", {
  set.seed(2)
  data <- data.frame(x = rnorm(80))
  data$y <- runif(80) < plogis(2 * data$x)
  fit <- quietly(quick(y ~ x, data, model = "logistic"))
  expect_setequal(fit$rows$response, c(0, 1))
  expect_type(completed(fit, m = 1)$imputations[[1]]$y, "logical")
})
