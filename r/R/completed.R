# Completed data sets for multiple imputation: each one has the links of one draw.

# Data sets with every response beside the predictors it belongs to, as an imputationList of mitools.
completed <- function(fit, m = 20, also = NULL, seed = 1) {
  sets <- exported(fit, m, also, seed)
  structure(
    class = "imputationList",
    list(imputations = lapply(sets, relinked, data = fit$data), call = match.call())
  )
}

# The same data sets as a mids of mice.
as_mids <- function(fit, m = 20, also = NULL, seed = 1) {
  if (!requireNamespace("mice", quietly = TRUE)) {
    fail("as_mids() needs the package mice")
  }
  sets <- exported(fit, m, also, seed)
  frames <- lapply(sets, relinked, data = fit$data)
  observed <- with_gaps(as_linked(sets[[1]], fit), frames)
  long <- do.call(rbind, c(list(observed), frames))
  long$.imp <- rep(0:m, each = nrow(observed))
  long$.id <- rep(seq_len(nrow(observed)), m + 1)
  mice::as.mids(long)
}

# A mids takes values of the completed sets only where the original is missing: a response that was left in the original would
# be used as linked in every set. So it is missing wherever any set has another one.
with_gaps <- function(original, frames) {
  for (name in names(original)) {
    if (is.atomic(original[[name]])) {
      differs <- lapply(frames, function(frame) !same_values(frame[[name]], original[[name]]))
      original[[name]][Reduce(`|`, differs)] <- NA
    }
  }
  original
}

same_values <- function(a, b) {
  a <- as.vector(a)
  b <- as.vector(b)
  (is.na(a) & is.na(b)) | (!is.na(a) & !is.na(b) & a == b)
}

# The files that `unshuffle export` writes; their last two columns say which row the response and which row the predictors are of.
exported <- function(fit, m, also, seed) {
  check_folder(fit)
  folder <- tempfile("completed_")
  on.exit(unlink(folder, recursive = TRUE))
  also_options <- as.vector(rbind(rep("--also", length(also)), also))
  run_unshuffle(c("export", fit$folder, "--output", folder, "--sets", m, "--seed", seed, also_options))
  files <- file.path(folder, sprintf("completed_%d.csv", seq_len(m)))
  moving <- moving_columns(fit, also)
  lapply(files, function(path) {
    frame <- utils::read.csv(path, check.names = FALSE, encoding = "UTF-8", sep = separator(path))
    last <- ncol(frame) - 1:0
    list(frame = frame[-last], row = frame[[last[1]]], linked_to = frame[[last[2]]], moving = moving)
  })
}

# One completed set, with the types of the data frame that was fitted where it is known.
relinked <- function(set, data) {
  if (is.null(data)) {
    return(set$frame)
  }
  frame <- data[set$linked_to, , drop = FALSE]
  frame[set$moving] <- data[set$row, set$moving, drop = FALSE]
  frame
}

# The data as they were linked before the fit.
as_linked <- function(set, fit) {
  if (!is.null(fit$data)) {
    return(fit$data[set$linked_to, , drop = FALSE])
  }
  frame <- set$frame
  frame[set$moving] <- frame[match(set$linked_to, set$row), set$moving, drop = FALSE]
  frame
}

# Columns that move with the response: its own, `also` and those of a survey of responses in one file, and all of its file
# where there are two.
moving_columns <- function(fit, also) {
  data <- fit$config$data
  response <- response_columns(data)
  if (is.null(data$left)) {
    survey <- if (identical(data$weights$with, "response")) survey_columns(data)
    return(unique(c(response, also, survey)))
  }
  left <- header(data$left)
  right <- header(data$right)
  of_left <- all(response %in% left)
  own <- if (of_left) left else right
  both <- own %in% left & own %in% right
  ifelse(both, paste0(own, if (of_left) ".left" else ".right"), own)
}

response_columns <- function(data) {
  response <- data$response
  if (is.null(response)) {
    return(all.vars(stats::as.formula(data$formula)[[2]]))
  }
  columns <- if (is.null(data$file)) c(header(data$left), header(data$right)) else header(data$file)
  of_entry <- function(entry) if (entry %in% columns) entry else all.vars(str2lang(entry))
  unique(unlist(lapply(response, of_entry)))
}

header <- function(path) {
  names(utils::read.csv(path, check.names = FALSE, encoding = "UTF-8", sep = separator(path), nrows = 1))
}

# Of comma, semicolon and tab, the one that the first line has most of.
separator <- function(path) {
  first <- strsplit(readLines(path, n = 1, encoding = "UTF-8"), "")[[1]]
  marks <- c(",", ";", "\t")
  counts <- vapply(marks, function(mark) sum(first == mark), integer(1))
  marks[which.max(counts)]
}
