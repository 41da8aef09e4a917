# The program `unshuffle`: where it is, how it is run, and its sentences as R conditions.

# Path of the program, or an error that says how to give it.
unshuffle_binary <- function() {
  given <- c(
    "the option unshuffle.binary" = getOption("unshuffle.binary", ""),
    "the environment variable UNSHUFFLE" = Sys.getenv("UNSHUFFLE")
  )
  given <- given[nzchar(given)]
  if (length(given) > 0) {
    if (!is_program(given[[1]])) {
      fail(sprintf("%s is `%s`, which is no program that can be run", names(given)[1], given[[1]]))
    }
    return(normalizePath(given[[1]]))
  }
  found <- c(Sys.which("unshuffle"), file.path(python_scripts(), "unshuffle"))
  found <- Filter(is_program, found)
  if (length(found) == 0) {
    fail(paste(
      "cannot find the program unshuffle; put it on PATH, install the Python package unshuffle,",
      "or give its path with options(unshuffle.binary = \"/path/to/unshuffle\")"
    ))
  }
  normalizePath(found[[1]])
}

is_program <- function(path) {
  nzchar(path) && utils::file_test("-f", path) && file.access(path, 1) == 0
}

# Folders into which pip puts programs: of this Python, and of the user.
python_scripts <- function() {
  python <- Sys.which("python3")
  if (!nzchar(python)) {
    return(character())
  }
  asked <- paste(
    "import os, sysconfig",
    "print(sysconfig.get_path('scripts'))",
    "print(sysconfig.get_path('scripts', os.name + '_user'))",
    sep = "; "
  )
  answer <- suppressWarnings(system2(python, c("-c", shQuote(asked)), stdout = TRUE, stderr = FALSE))
  as.character(answer)
}

# Runs the program and returns the lines that it prints. Its warnings become warnings and its error becomes an error.
# `progress` shows what else it says while it runs.
run_unshuffle <- function(args, progress = FALSE) {
  printed <- tempfile("unshuffle_")
  on.exit(unlink(printed))
  said <- run_piped(c(unshuffle_binary(), args), printed, function(line) {
    if (progress && !grepl("^(warning|error|exit code): ", line)) {
      message(line)
    }
  })
  code <- as.integer(sub("exit code: ", "", said[length(said)]))
  said <- said[-length(said)]
  for (line in grep("^warning: ", said, value = TRUE)) {
    warn(sub("^warning: ", "", line))
  }
  if (code != 0) {
    fail(error_sentence(said, code), exit_code = code)
  }
  readLines(printed, encoding = "UTF-8", warn = FALSE)
}

# What a command says on stderr, and its exit code as the last line; what it prints goes to the file `printed`. Through a pipe,
# unlike system2(), lines can be shown as they come.
run_piped <- function(command, printed, show) {
  command <- paste(c(shQuote(command), "2>&1", ">", shQuote(printed), "</dev/null; echo exit code: $?"), collapse = " ")
  process <- pipe(command, open = "r", encoding = "UTF-8")
  on.exit(close(process))
  said <- character()
  while (length(line <- readLines(process, n = 1, warn = FALSE)) > 0) {
    show(line)
    said <- c(said, line)
  }
  said
}

# The sentence of the program; it may go on over several lines, such as the message of a Stan compiler.
error_sentence <- function(said, code) {
  start <- grep("^error: ", said)
  if (length(start) > 0) {
    sentence <- said[seq(start[1], length(said))]
    return(paste(sub("^error: ", "", sentence), collapse = "\n"))
  }
  if (code == 130) {
    return("the fit was interrupted; its folder holds the draws so far, and `resume = TRUE` goes on with it")
  }
  paste(c(sprintf("unshuffle ended with exit code %d", code), utils::tail(said, 5)), collapse = "\n")
}

fail <- function(sentence, exit_code = NA_integer_) {
  stop(structure(
    class = c("unshuffle_error", "error", "condition"),
    list(message = sentence, call = NULL, exit_code = exit_code)
  ))
}

warn <- function(sentence) {
  warning(structure(
    class = c("unshuffle_warning", "warning", "condition"),
    list(message = sentence, call = NULL)
  ))
}
