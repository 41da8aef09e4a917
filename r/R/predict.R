# Responses of new rows.

predict.unshuffle <- function(object, newdata = NULL, summary = TRUE, draws = NULL, seed = 1, level = 0.9, ...) {
  check_folder(object)
  if (is.null(newdata)) {
    newdata <- object$data
  }
  if (is.null(newdata)) {
    fail("this fit was not made by R, so its data frame is not known; give the rows as newdata")
  }
  folder <- tempfile("predict_")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  rows <- file.path(folder, "rows.csv")
  predicted <- file.path(folder, "predicted.csv")
  write_data(as.data.frame(newdata), rows)
  run_unshuffle(c(
    "predict", object$folder, rows, "--output", predicted, "--seed", seed,
    if (!is.null(draws)) c("--draws", draws), if (summary) c("--level", level) else "--all"
  ))
  read_table(predicted)
}
