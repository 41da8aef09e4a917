library(mitools)

rubin <- function(sets) {
  folder <- new_test_folder()
  table <- lapply(seq_along(sets), function(k) {
    estimates <- coef(summary(lm(log_food ~ log_income, sets[[k]])))
    data.frame(
      set = k, name = rownames(estimates), estimate = sprintf("%.17g", estimates[, 1]),
      standard_error = sprintf("%.17g", estimates[, 2]), df_complete = 233
    )
  })
  path <- file.path(folder, "estimates.csv")
  pooled <- file.path(folder, "pooled.csv")
  write.csv(do.call(rbind, table), path, row.names = FALSE, quote = FALSE)
  unshuffle:::run_unshuffle(c("pool", path, "--output", pooled))
  unshuffle:::read_table(pooled)
}

test_that("mitools and mice pool as `unshuffle pool` does", {
  fit <- engel_fit()
  sets <- completed(fit)
  expect_length(sets$imputations, 20)
  expected <- rubin(sets$imputations)

  combined <- MIcombine(with(sets, lm(log_food ~ log_income)))
  expect_equal(unname(coef(combined)), expected$estimate, tolerance = 1e-10)
  expect_equal(unname(sqrt(diag(vcov(combined)))), expected$standard_error, tolerance = 1e-10)

  pooled <- summary(mice::pool(with(as_mids(fit), lm(log_food ~ log_income))))
  expect_equal(pooled$estimate, expected$estimate, tolerance = 1e-10)
  expect_equal(pooled$std.error, expected$standard_error, tolerance = 1e-10)
  expect_equal(pooled$df, expected$df, tolerance = 1e-8)
})

test_that("a mids holds the completed sets, and not the data as linked", {
  fit <- engel_fit()
  sets <- completed(fit, m = 5)$imputations
  mids <- as_mids(fit, m = 5)
  expect_equal(mids$m, 5)
  for (k in seq_along(sets)) {
    expect_equal(mice::complete(mids, k)$log_food, sets[[k]]$log_food)
    expect_equal(mice::complete(mids, k)$log_income, engel$log_income)
  }
  differs <- Reduce(`|`, lapply(sets, function(set) set$log_food != engel$log_food))
  expect_identical(unname(is.na(mids$data$log_food)), differs)
  # What mice does with the original where nothing is missing: the estimates as linked, without a word.
  trap <- do.call(rbind, c(list(cbind(engel, .imp = 0)), Map(cbind, sets, .imp = 1:5)))
  trap$.id <- rep(seq_len(nrow(engel)), 6)
  uncorrected <- mice::pool(with(mice::as.mids(trap), lm(log_food ~ log_income)))
  expect_equal(summary(uncorrected)$estimate, unname(coef(lm(log_food ~ log_income, engel))), tolerance = 1e-10)
})

test_that("completed sets keep the types of the data frame, its dropped rows left out", {
  data <- workers()
  data$wage[1:40] <- rev(data$wage[1:40])
  data$educ[7] <- NA
  data$bonus <- data$wage / 10
  fit <- quietly(quick(log(wage) ~ educ + sector, data, missing = "drop"))
  sets <- completed(fit, m = 3, also = "bonus")$imputations
  for (set in sets) {
    expect_equal(nrow(set), nrow(data) - 1)
    expect_identical(levels(set$sector), levels(data$sector))
    expect_identical(set$union, data$union[-7])
    expect_identical(sort(set$wage), sort(data$wage[-7]))
    expect_equal(set$bonus, set$wage / 10)
  }
  expect_true(any(sets[[1]]$wage != sets[[2]]$wage))
})

test_that("fits of the command line have completed sets too, also of two files", {
  folder <- new_test_folder()
  survey <- data.frame(person = engel$household, log_food = engel$log_food, note = sprintf("n%d", engel$household))
  register <- data.frame(person = rev(engel$household), log_income = rev(engel$log_income), note = "r")
  write.csv(survey, file.path(folder, "survey.csv"), row.names = FALSE)
  write.table(register, file.path(folder, "register.csv"), row.names = FALSE, sep = ";")
  config <- '{"model": {"stan": "linear"},
    "data": {"left": "survey.csv", "right": "register.csv", "links": "person",
             "response": "log_food", "predictors": ["log_income"]},
    "sampler": {"chains": 2, "warmup": 300, "draws": 300, "seed": 5}, "output": "out"}'
  writeLines(config, file.path(folder, "two.json"))
  quietly(unshuffle:::run_unshuffle(c("fit", file.path(folder, "two.json"), "--quiet")))
  fit <- quietly(load_unshuffle(file.path(folder, "out")))
  sets <- completed(fit, m = 4)$imputations
  expect_identical(sets[[1]]$log_income, engel$log_income)
  expect_true(any(sets[[1]]$log_food != engel$log_food))
  # The note of the survey moves with its response.
  expect_identical(sets[[1]]$log_food, engel$log_food[as.integer(substring(sets[[1]]$note.left, 2))])
  mids <- as_mids(fit, m = 4)
  differs <- Reduce(`|`, lapply(sets, function(set) set$log_food != engel$log_food))
  expect_identical(unname(is.na(mids$data$log_food)), differs)
})

test_that("several responses move together", {
  data <- transform(engel, rent = log_food - 1 + 0.1 * sin(household))
  fit <- quietly(quick(cbind(log_food, rent) ~ log_income, data, model = "multivariate"))
  expect_length(coef(fit), 4)
  expect_equal(coef(fit, method = "joint"), colMeans(unshuffle:::coefficient_draws(fit)), tolerance = 1e-10)
  set <- completed(fit, m = 1)$imputations[[1]]
  moved <- set$log_food != data$log_food
  expect_gt(sum(moved), 0)
  place <- match(set$log_food[moved], data$log_food)
  expect_equal(set$rent[moved], data$rent[place], tolerance = 0.2)
  grDevices::pdf(NULL)
  expect_invisible(plot(fit, which = 1))
  grDevices::dev.off()
})
