# The paper's sampler as an R user would write it: rstan for Step 1, clue for the assignment, a loop of checkerboard proposals for Step 2.
#
#   Rscript paper.R ITERATIONS PROPOSALS_PER_ROW DATA.csv...
#
# ITERATIONS is for a file of 100 rows; larger ones have fewer, as the square of their rows, and 3 at least. A file has the number of its row,
# the predictors and the response; the model has no intercept. Prints, for each file, the number of rows, milliseconds of processor time of one
# iteration, and how they divide between Step 1, the assignment and the proposals. The model is compiled once, beforehand. Each
# iteration makes one transition of Stan's sampler from the current point, with the step size of a first adapted run.
suppressPackageStartupMessages({
  library(rstan)
  library(clue)
})

# Debian's package BH leaves Boost where the compiler finds it.
if (rstan_options("boost_lib") == "") rstan_options(boost_lib = "/usr/include")

program <- "
data { int<lower=1> N; int<lower=1> D; matrix[N, D] X; vector[N] y; real<lower=0> alpha; }
parameters { vector[D] beta; real<lower=0> sigma2; }
model { beta ~ normal(0, 1000); sigma2 ~ normal(0, 1000); target += alpha * normal_lpdf(y | X * beta, sqrt(sigma2)); }
"

# Proposals of the paper's section II.B; `assigned[r]` is the column of row r.
checkerboard <- function(assigned, cost, proposals) {
  n <- length(assigned)
  row_of <- integer(n)
  row_of[assigned] <- seq_len(n)
  for (t in seq_len(proposals)) {
    r1 <- sample.int(n, 1)
    c1 <- sample.int(n, 1)
    if (assigned[r1] == c1) {
      c2 <- sample.int(n - 1, 1)
      c2 <- c2 + (c2 >= c1)
      r2 <- row_of[c2]
    } else {
      r2 <- row_of[c1]
      c2 <- sample.int(n - 1, 1)
      c2 <- c2 + (c2 >= c1)
      if (assigned[r1] != c2) next
      swapped <- c1
      c1 <- c2
      c2 <- swapped
    }
    # Row r1 has column c1 and row r2 column c2.
    gain <- cost[r1, c1] + cost[r2, c2] - cost[r1, c2] - cost[r2, c1]
    if (runif(1) < 1 / (1 + exp(-gain))) {
      assigned[r1] <- c2
      assigned[r2] <- c1
      row_of[c2] <- r1
      row_of[c1] <- r2
    }
  }
  assigned
}

# Of processor time.
seconds <- function(expression) sum(system.time(expression, gcFirst = FALSE)[c("user.self", "sys.self")])

run <- function(model, file, iterations, proposals) {
  table <- as.matrix(read.csv(file))
  n <- nrow(table)
  iterations <- max(3, round(iterations * (100 / n)^2))
  x <- table[, -c(1, ncol(table)), drop = FALSE]
  y <- table[, ncol(table)]
  alpha <- 1 / n
  stan_data <- function(y) list(N = n, D = ncol(x), X = x, y = y, alpha = alpha)
  first <- sampling(model, stan_data(y), chains = 1, iter = 1000, warmup = 500, refresh = 0, seed = 1)
  step_size <- get_sampler_params(first, inc_warmup = FALSE)[[1]][1, "stepsize__"]
  draws <- extract(first, permuted = FALSE)
  point <- function(draws) list(beta = draws[grep("^beta", names(draws))], sigma2 = draws[["sigma2"]])
  current <- point(draws[dim(draws)[1], 1, ])
  assigned <- seq_len(n)
  spent <- c(stan = 0, assignment = 0, proposals = 0)
  control <- list(adapt_engaged = FALSE, stepsize = step_size)
  for (k in seq_len(iterations)) {
    # Row r of the file has the response of row assigned[r].
    spent["stan"] <- spent["stan"] + seconds({
      fit <- sampling(model, stan_data(y[assigned]), chains = 1, iter = 1, warmup = 0, init = list(current), refresh = 0, seed = k, control = control)
      current <- point(extract(fit, permuted = FALSE)[1, 1, ])
    })
    spent["assignment"] <- spent["assignment"] + seconds({
      fitted <- as.vector(x %*% current$beta)
      cost <- alpha * outer(fitted, y, function(f, y) (y - f)^2 / (2 * current$sigma2))
      assigned <- as.integer(solve_LSAP(cost))
    })
    spent["proposals"] <- spent["proposals"] + seconds(assigned <- checkerboard(assigned, cost, proposals * n))
  }
  c(n, 1e3 * sum(spent) / iterations, 1e3 * spent / iterations)
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 3) stop("usage: Rscript paper.R ITERATIONS PROPOSALS_PER_ROW DATA.csv...")
model <- stan_model(model_code = program)
cat("version,", R.version.string, "; rstan ", as.character(packageVersion("rstan")), "; clue ", as.character(packageVersion("clue")), "\n", sep = "")
for (file in arguments[-(1:2)]) {
  sink(tempfile())
  result <- suppressWarnings(run(model, file, as.integer(arguments[1]), as.integer(arguments[2])))
  sink()
  cat(paste(signif(result, 4), collapse = ","), "\n", sep = "")
}
