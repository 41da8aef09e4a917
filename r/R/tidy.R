# Tables for the packages generics and broom.

tidy.unshuffle <- function(x, conf.int = FALSE, conf.level = 0.9, method = "recommended", ...) {
  estimates <- estimates_by(x, method)
  table <- data.frame(term = estimates$name, estimate = estimates$estimate, std.error = estimates$sd)
  if (conf.int) {
    interval <- confint.unshuffle(x, level = conf.level, method = method)
    table$conf.low <- unname(interval[, 1])
    table$conf.high <- unname(interval[, 2])
  }
  table
}

glance.unshuffle <- function(x, ...) {
  trusted <- isTRUE(x$trust$trusted)
  of <- function(name) x$posterior[x$posterior$name == name, "Mean"]
  # Where a check fails, the number of wrong links means nothing.
  of_links <- function(name) if (trusted && length(of(name)) == 1) of(name) else NA_real_
  data.frame(
    model = x$config$model$stan,
    nobs = nobs.unshuffle(x),
    trusted = trusted,
    source = if (is.null(x$trust$source)) NA_character_ else x$trust$source,
    mismatch.rate = of_links("mismatch_rate"),
    n.moved = of_links("n_moved"),
    max.rhat = max(x$posterior$R_hat, na.rm = TRUE),
    min.ess = min(x$posterior$ESS_bulk, na.rm = TRUE),
    divergences = sum(x$diagnostics$chains$num_divergences)
  )
}
