# Data frames and formulas as the program reads them: a CSV file, and a formula with R's categories spelt out.

# Writes the columns that a CSV file can hold; `zero_one` names logical columns that are written as 0 and 1.
write_data <- function(data, path, zero_one = character()) {
  is_plain <- vapply(data, function(column) is.atomic(column) && is.null(dim(column)), logical(1))
  data <- data[is_plain]
  data[zero_one] <- lapply(data[zero_one], as.integer)
  cells <- lapply(data, cell_text)
  lines <- do.call(paste, c(unname(cells), sep = ","))
  header <- paste(quoted(names(data)), collapse = ",")
  writeLines(enc2utf8(c(header, lines)), path, useBytes = TRUE)
}

cell_text <- function(column) {
  text <- if (is.numeric(column) && !is.object(column)) number_text(column) else quoted(as.character(column))
  # An empty cell is a missing value.
  text[is.na(column)] <- ""
  text
}

# The fewest digits of 15 and 17 that give the same number again.
number_text <- function(numbers) {
  text <- character(length(numbers))
  known <- !is.na(numbers)
  text[known] <- sprintf("%.15g", numbers[known])
  inexact <- which(known)[as.numeric(text[known]) != numbers[known]]
  text[inexact] <- sprintf("%.17g", numbers[inexact])
  text
}

quoted <- function(text) {
  special <- grepl("[\",;\t\r\n]", text)
  text[special] <- paste0("\"", gsub("\"", "\"\"", text[special], fixed = TRUE), "\"")
  text
}

is_category <- function(column) is.factor(column) || is.character(column) || is.logical(column)

# The formula with `.` replaced by the columns that it stands for, of which `not` are none.
without_dot <- function(formula, data, not) {
  if (!"." %in% all.vars(formula)) {
    return(formula)
  }
  stats::formula(stats::terms(formula, data = data[setdiff(names(data), not)], simplify = TRUE))
}

# The formula with `C(...)` around each category, so that a factor with the levels 1, 2 and 3 is not read as a number.
with_categories <- function(formula, data) {
  formula[[length(formula)]] <- mark_categories(formula[[length(formula)]], names(Filter(is_category, data)))
  formula
}

mark_categories <- function(term, categories) {
  if (is.name(term)) {
    return(if (as.character(term) %in% categories) call("C", term) else term)
  }
  if (!is.call(term)) {
    return(term)
  }
  head <- as.character(term[[1]])[1]
  if (head %in% c("factor", "as.factor") && length(term) == 2) {
    term[[1]] <- as.name("C")
  } else if (head %in% c("+", "-", "*", ":", "^", "(")) {
    term[-1] <- lapply(term[-1], mark_categories, categories)
  }
  term
}

# Columns that stand in `C(...)` somewhere in the formula.
category_columns <- function(term) {
  if (!is.call(term)) {
    return(character())
  }
  if (identical(term[[1]], as.name("C"))) {
    return(all.vars(term))
  }
  unique(unlist(lapply(as.list(term)[-1], category_columns)))
}

# The first level of each factor among the rows without missing values: R compares the other levels with it.
first_levels <- function(formula, data) {
  used <- intersect(all.vars(formula), names(data))
  rows <- data[stats::complete.cases(data[used]), , drop = FALSE]
  factors <- Filter(function(name) is.factor(data[[name]]), category_columns(formula))
  first <- lapply(factors, function(name) levels(droplevels(rows[[name]]))[1])
  names(first) <- factors
  Filter(function(level) !is.null(level) && !is.na(level), first)
}

formula_text <- function(formula) {
  paste(trimws(deparse(formula, width.cutoff = 500L)), collapse = " ")
}
