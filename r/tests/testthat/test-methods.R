test_that("coefficients, intervals and covariances are those of the draws", {
  fit <- engel_fit()
  draws <- unshuffle:::coefficient_draws(fit)
  expect_equal(coef(fit, method = "joint"), colMeans(draws), tolerance = 1e-10)
  expect_equal(coef(fit), coef(fit, method = "joint"))
  expect_equal(vcov(fit), var(draws))
  expect_equal(sqrt(diag(vcov(fit))), setNames(fit$estimates$sd[1:2], names(coef(fit))), tolerance = 1e-10)
  expect_equal(confint(fit), t(apply(draws, 2, quantile, c(0.05, 0.95))), tolerance = 1e-10, ignore_attr = TRUE)
  expect_equal(colnames(confint(fit, level = 0.95)), c("2.5 %", "97.5 %"))
  expect_true(all(confint(fit, level = 0.95)[, 1] < confint(fit)[, 1]))
  expect_equal(rownames(confint(fit, "log_income")), "log_income")
})

test_that("the corrected slope is nearer to the truth than the slope as linked", {
  # Truth: least squares on the file with every household linked rightly (configs/data/engel_truth.json).
  truth <- 0.8558969860409026
  fit <- engel_fit()
  expect_lt(abs(coef(fit)[["log_income"]] - truth), 0.03)
  expect_gt(abs(coef(fit, method = "as_linked")[["log_income"]] - truth), 0.15)
})

test_that("coefficients that are not the joint posterior's have no covariances and one interval", {
  fit <- engel_fit()
  fit$trust$source <- "known_rate"
  expect_error(vcov(fit), "known rate of wrong links", class = "unshuffle_error")
  expect_error(confint(fit, level = 0.95), "level = 0.9 alone", class = "unshuffle_error")
  expect_equal(dim(vcov(fit, method = "joint")), c(2, 2))
  expect_error(vcov(engel_fit(), method = "huber"), "huber", class = "unshuffle_error")
})

test_that("a fit that keeps every link has the posterior of the links as given", {
  fit <- quietly(quick(log_food ~ log_income, engel, update = list(name = "none")))
  expect_equal(coef(fit), colMeans(unshuffle:::coefficient_draws(fit)), tolerance = 1e-10)
  expect_equal(sqrt(diag(vcov(fit))), summary(fit)$coefficients[, "sd"], tolerance = 1e-10)
  expect_error(completed(fit), "nothing to relink", class = "unshuffle_error")
})

test_that("a fit that was not finished has a sentence instead of coefficients", {
  fit <- engel_fit()
  fit$estimates <- NULL
  expect_output(print(fit), "Regression after record linkage")
  expect_error(coef(fit), "is not finished", class = "unshuffle_error")
  expect_true("log_income" %in% posterior::variables(posterior::as_draws(fit)))
})

test_that("print and summary show the verdict, the recommended coefficients and the checks", {
  fit <- engel_fit()
  printed <- capture.output(print(fit))
  expect_true(any(grepl("of the 235 rows are linked wrongly", printed)))
  expect_true(any(grepl("^log_income +0.8[0-9]+ ", printed)))
  summarised <- summary(fit)
  expect_equal(coef(summarised)[, "estimate"], coef(fit))
  printed <- capture.output(print(summarised))
  expect_true(any(grepl("[passed]", printed, fixed = TRUE)))
  expect_true(any(grepl("^mismatch_rate", printed)))
})

test_that("tidy and glance have the columns of broom", {
  fit <- engel_fit()
  table <- generics::tidy(fit, conf.int = TRUE)
  expect_named(table, c("term", "estimate", "std.error", "conf.low", "conf.high"))
  expect_equal(table$conf.low, unname(confint(fit)[, 1]))
  expect_equal(generics::tidy(fit, method = "huber")$estimate, unname(coef(fit, method = "huber")))
  glance <- generics::glance(fit)
  expect_equal(nrow(glance), 1)
  expect_equal(glance$mismatch.rate, fit$posterior$Mean[fit$posterior$name == "mismatch_rate"])
  # No number of wrong links where the model behind it is not trusted.
  fit$trust$trusted <- FALSE
  expect_true(is.na(generics::glance(fit)$mismatch.rate))
})

test_that("predictions are those of the posterior, for the rows of the fit and for new ones", {
  fit <- engel_fit()
  new <- data.frame(log_income = c(6, 7))
  predicted <- predict(fit, new)
  expect_equal(predicted$mean, as.vector(cbind(1, new$log_income) %*% coef(fit, method = "joint")), tolerance = 0.01)
  expect_equal(nrow(predict(fit)), 235)
  draws <- predict(fit, new, summary = FALSE, draws = 50)
  expect_equal(nrow(draws), 100)
})

test_that("plots are drawn", {
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  expect_invisible(plot(engel_fit()))
  grDevices::dev.off()
  expect_gt(file.size(path), 5000)
})

test_that("the report is a page", {
  path <- unshuffle_report(engel_fit(), open = FALSE)
  expect_match(readLines(path, n = 1), "<!DOCTYPE html>", ignore.case = TRUE)
})

test_that("draws are read by posterior under the user's names", {
  fit <- engel_fit()
  draws <- posterior::as_draws(fit)
  variables <- c("lp__", "n_moved", "mismatch_rate", "(Intercept)", "log_income", "sigma2")
  expect_setequal(posterior::variables(draws), variables)
  expect_equal(posterior::nchains(draws), 2)
  summarised <- posterior::summarise_draws(draws)
  saved <- fit$posterior[match(c("beta.1", "beta.2", "sigma2", "n_moved"), fit$posterior$name), ]
  found <- summarised[match(c("(Intercept)", "log_income", "sigma2", "n_moved"), summarised$variable), ]
  expect_equal(as.numeric(found$mean), saved$Mean, tolerance = 1e-10)
  expect_equal(as.numeric(found$rhat), saved$R_hat, tolerance = 1e-8)
  expect_equal(as.numeric(found$ess_bulk), saved$ESS_bulk, tolerance = 1e-8)
  for (as in list(posterior::as_draws_array, posterior::as_draws_df, posterior::as_draws_list, posterior::as_draws_matrix)) {
    expect_equal(posterior::ndraws(as(fit)), 600)
  }
  expect_s3_class(posterior::as_draws_rvars(fit)$log_income, "rvar")
})

test_that("indices of the program's other parameters are written as posterior writes them", {
  fit <- engel_fit()
  names <- unshuffle:::variable_names(fit, c("beta.2", "L.1.2", "theta.3", "sigma2"))
  expect_equal(names, c("log_income", "L[1,2]", "theta[3]", "sigma2"))
  # A predictor called as another parameter keeps the two apart.
  fit$columns$predictor_names[2] <- "sigma2"
  expect_equal(unshuffle:::variable_names(fit, c("beta.2", "sigma2")), c("beta[2]", "sigma2"))
})
