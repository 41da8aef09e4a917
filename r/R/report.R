# The report of a fit.

# Path of report.html, which is opened in a browser.
unshuffle_report <- function(fit, open = interactive()) {
  check_folder(fit)
  path <- file.path(fit$folder, "report.html")
  if (!file.exists(path)) {
    run_unshuffle(c("report", fit$folder))
  }
  if (open) {
    utils::browseURL(path)
  }
  invisible(path)
}
