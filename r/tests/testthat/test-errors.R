test_that("the program's sentence becomes an R condition with its exit code", {
  error <- tryCatch(quick(log_food ~ poly(log_income, 2), engel), error = identity)
  expect_s3_class(error, "unshuffle_error")
  expect_equal(error$exit_code, 2)
  expect_match(conditionMessage(error), "^data.formula is `log_food ~ poly\\(log_income, 2\\)`; .* `poly` is no function here")
  expect_error(quick(log_food ~ log_incme, engel), "log_incme", class = "unshuffle_error")
})

test_that("warnings of the program become R warnings", {
  constant <- transform(engel, alone = household)
  expect_warning(
    quick(log_food ~ log_income, constant, block = "alone"),
    "no row can be linked elsewhere",
    class = "unshuffle_warning"
  ) |> quietly()
})

test_that("a program that is not there is told with the remedy", {
  old <- options(unshuffle.binary = "/nowhere/unshuffle")
  expect_error(unshuffle_binary(), "option unshuffle.binary is `/nowhere/unshuffle`", class = "unshuffle_error")
  options(old)
  variables <- Sys.getenv(c("UNSHUFFLE", "PATH"))
  on.exit(do.call(Sys.setenv, as.list(variables)))
  Sys.setenv(UNSHUFFLE = "", PATH = "/nowhere")
  expect_error(unshuffle_binary(), "put it on PATH", class = "unshuffle_error")
})

test_that("the program is found on PATH and in the folder of Python's programs", {
  binary <- unshuffle_binary()
  folder <- new_test_folder()
  file.symlink(binary, file.path(folder, "unshuffle"))
  variables <- Sys.getenv(c("UNSHUFFLE", "PATH"))
  on.exit(do.call(Sys.setenv, as.list(variables)), add = TRUE)
  old <- options(unshuffle.binary = NULL)
  on.exit(options(old), add = TRUE)
  Sys.setenv(UNSHUFFLE = "", PATH = folder)
  expect_identical(unshuffle_binary(), binary)

  # A Python that says that its programs are in `folder`.
  other <- new_test_folder()
  python <- file.path(other, "python3")
  writeLines(c("#!/bin/sh", sprintf("echo '%s'", folder)), python)
  Sys.chmod(python, "755")
  Sys.setenv(PATH = paste(other, "/bin", sep = ":"))
  expect_identical(unshuffle_binary(), binary)
})

test_that("mistakes in arguments are told with the fix", {
  expect_error(quick(log_food ~ log_income, engel, drwas = 100), "nearest name is `draws`", class = "unshuffle_error")
  expect_error(quick(log_food ~ log_income, engel, response = "y"), "model and of data", class = "unshuffle_error")
  expect_error(quick(log_food ~ log_income, engel, audit = 7), "c\\(checked, wrong\\)", class = "unshuffle_error")
  expect_error(quick(log_food ~ log_income, as.list(engel)), "data frame", class = "unshuffle_error")
  expect_error(quick(log_food ~ log_income, engel, model = "none.stan"), "cannot find the Stan program none.stan")
  expect_error(load_unshuffle(tempdir()), "not the folder of a fit", class = "unshuffle_error")
  expect_error(coef(engel_fit(), method = "median"), "\"as_linked\"", class = "unshuffle_error")
})

test_that("a fit whose folder is gone says how to keep it", {
  fit <- engel_fit()
  fit$folder <- file.path(tempdir(), "gone")
  expect_error(vcov(fit), "load_unshuffle", class = "unshuffle_error")
  expect_error(predict(fit), "load_unshuffle", class = "unshuffle_error")
  expect_error(completed(fit), "load_unshuffle", class = "unshuffle_error")
})
