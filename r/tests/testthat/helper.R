# One fit that several tests look at; they need the program, whose folder the check gives in UNSHUFFLE.
quick <- function(...) unshuffle(..., chains = 2, warmup = 300, draws = 300, seed = 5)

# Chains this short may come with warnings about convergence, which are not what is tested.
quietly <- function(expr) withCallingHandlers(expr, unshuffle_warning = function(w) invokeRestart("muffleWarning"))

engel_fit <- local({
  fit <- NULL
  function() {
    if (is.null(fit)) {
      fit <<- quietly(quick(log_food ~ log_income, engel, id = "household"))
    }
    fit
  }
})

# The least-squares coefficients that the program computed from the file and the formula that R wrote.
least_squares <- function(fit) {
  table <- unshuffle:::read_table(file.path(fit$folder, "baselines.csv"))
  table <- table[table$method == "least_squares", ]
  stats::setNames(table$estimate, table$name)
}

# Made-up workers with every kind of column that a data frame has.
workers <- function(n = 120) {
  set.seed(1)
  data <- data.frame(
    educ = sample(8:18, n, TRUE),
    grade = factor(sample(1:3, n, TRUE), levels = c(2, 3, 1)),
    sector = factor(sample(c("trade", "other", "services"), n, TRUE), levels = c("trade", "other", "services", "none")),
    sex = sample(c("female", "male"), n, TRUE),
    union = sample(c(TRUE, FALSE), n, TRUE),
    check.names = FALSE
  )
  data[["hours worked"]] <- stats::rnorm(n, 40, 3)
  data$wage <- exp(1 + 0.1 * data$educ + 0.2 * data$union + 0.1 * (data$grade == "1") + stats::rnorm(n, 0, 0.2))
  data
}

# A folder that goes with the test.
new_test_folder <- function(env = parent.frame()) {
  folder <- tempfile("test_")
  dir.create(folder)
  do.call(on.exit, list(bquote(unlink(.(folder), recursive = TRUE)), add = TRUE), envir = env)
  normalizePath(folder)
}
