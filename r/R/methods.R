# Coefficients, intervals and summaries of a fit.

SOURCES <- c(
  joint = "the joint posterior of coefficients and links",
  robust_mixture = "a mixture of right and wrong rows that relies on no particular error law",
  weighted = "the same model with every link kept and each row weighted by the probability that its link is right",
  known_rate = "an estimate for a known rate of wrong links",
  as_linked = "the links as given"
)

# The lines of one method in coefficients.csv.
estimates_by <- function(fit, method) {
  methods <- unique(fit$estimates$method)
  if (is.null(methods)) {
    fail(sprintf(
      "the fit in %s is not finished, so it has no coefficients; unshuffle(..., resume = TRUE) goes on with it", fit$folder
    ))
  }
  if (!method %in% methods) {
    fail(sprintf("method is \"%s\", but the fit has %s", method, paste0("\"", methods, "\"", collapse = ", ")))
  }
  fit$estimates[fit$estimates$method == method, ]
}

# The method whose estimates are means of the draws: a fit that keeps every link has no other posterior.
method_of_draws <- function(fit) {
  if (identical(fit$config$permutation$update$name, "none")) "as_linked" else "joint"
}

is_of_draws <- function(fit, method) {
  own <- method_of_draws(fit)
  method == own || (method == "recommended" && identical(fit$trust$source, own))
}

coef.unshuffle <- function(object, method = "recommended", ...) {
  estimates <- estimates_by(object, method)
  stats::setNames(estimates$estimate, estimates$name)
}

confint.unshuffle <- function(object, parm, level = 0.9, method = "recommended", ...) {
  estimates <- estimates_by(object, method)
  probs <- c((1 - level) / 2, (1 + level) / 2)
  if (isTRUE(all.equal(level, 0.9))) {
    interval <- cbind(estimates[["5%"]], estimates[["95%"]])
  } else if (is_of_draws(object, method)) {
    interval <- t(apply(coefficient_draws(object), 2, stats::quantile, probs = probs, names = FALSE))
  } else {
    fail(sprintf(
      "the %s coefficients come from %s, whose interval is saved for level = 0.9 alone", method, source_of(object, method)
    ))
  }
  dimnames(interval) <- list(estimates$name, paste(format(100 * probs, trim = TRUE, digits = 3), "%"))
  if (missing(parm)) interval else interval[parm, , drop = FALSE]
}

vcov.unshuffle <- function(object, method = "recommended", ...) {
  estimates_by(object, method)
  if (!is_of_draws(object, method)) {
    fail(sprintf(
      "the %s coefficients come from %s, whose covariances are not saved; method = \"%s\" has those of the draws",
      method, source_of(object, method), method_of_draws(object)
    ))
  }
  stats::var(coefficient_draws(object))
}

source_of <- function(fit, method) {
  source <- if (method == "recommended") fit$trust$source else method
  if (is.null(source)) {
    return("a source that is not known, as trust.json is missing")
  }
  if (source %in% names(SOURCES)) SOURCES[[source]] else source
}

formula.unshuffle <- function(x, ...) x$formula

nobs.unshuffle <- function(object, ...) object$columns$num_rows

print.unshuffle <- function(x, digits = 4, ...) {
  print_heading(x)
  print_verdict(x)
  if (!is.null(x$estimates)) {
    cat("\nRecommended coefficients, from ", source_of(x, "recommended"), ", with 90 % intervals:\n", sep = "")
    print(coefficient_table(x, "recommended"), digits = digits)
  }
  cat("\nResults: ", x$folder, "\n", sep = "")
  invisible(x)
}

print_heading <- function(fit) {
  cat("Regression after record linkage, model ", fit$config$model$stan, ", ", nobs(fit), " rows\n", sep = "")
  if (!is.null(fit$formula)) {
    cat(formula_text(fit$formula), "\n", sep = "")
  }
}

print_verdict <- function(fit) {
  if (length(fit$verdict) > 0) {
    cat("\n", paste0(fit$verdict, "\n"), sep = "")
  }
}

coefficient_table <- function(fit, method) {
  estimates <- estimates_by(fit, method)
  table <- as.matrix(estimates[c("estimate", "sd", "5%", "95%")])
  rownames(table) <- estimates$name
  table
}

summary.unshuffle <- function(object, ...) {
  methods <- unique(object$estimates$method)
  tables <- lapply(methods, coefficient_table, fit = object)
  structure(
    class = "summary.unshuffle",
    list(
      fit = object,
      coefficients = coefficient_table(object, "recommended"),
      methods = stats::setNames(tables, methods),
      checks = object$trust$checks,
      posterior = named_posterior(object)
    )
  )
}

# summary.csv with the user's names of the coefficients.
named_posterior <- function(fit) {
  table <- fit$posterior
  number <- vapply(table, is.numeric, logical(1))
  names <- variable_names(fit, table$name)
  table <- as.matrix(table[number])
  rownames(table) <- names
  table
}

print.summary.unshuffle <- function(x, digits = 4, ...) {
  print_heading(x$fit)
  print_verdict(x$fit)
  for (method in names(x$methods)) {
    from <- if (method == "recommended") paste(", from", source_of(x$fit, method)) else ""
    cat("\nCoefficients, ", method, from, ":\n", sep = "")
    print(x$methods[[method]], digits = digits)
  }
  if (!is.null(x$checks)) {
    cat("\nChecks of the model behind the links:\n")
    writeLines(strwrap(sprintf("%s %s", ifelse(x$checks$passed, "[passed]", "[failed]"), x$checks$sentence), exdent = 9))
  }
  cat("\nPosterior:\n")
  print(x$posterior, digits = digits)
  invisible(x)
}
