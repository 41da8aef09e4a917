# Pictures of a fit in base graphics.

plot.unshuffle <- function(x, which = 1:2, ...) {
  if (1 %in% which) {
    plot_coefficients(x, ...)
  }
  if (2 %in% which) {
    plot_rows(x, ...)
  }
  invisible(x)
}

RED <- "#b2182b"
# More panels on a page would leave no room between their margins.
PANELS <- 6

# Each coefficient with its 90 % interval by method, on a scale of its own.
plot_coefficients <- function(fit, main = "Coefficients, 90 % intervals", ...) {
  names <- unique(fit$estimates$name)
  panels <- grDevices::n2mfrow(min(length(names), PANELS))
  old <- graphics::par(mfrow = panels, mar = c(2.5, 8.5, 2, 1), oma = c(0, 0, 1.5, 0))
  on.exit(graphics::par(old))
  for (name in names) {
    table <- fit$estimates[fit$estimates$name == name, ]
    height <- rev(seq_len(nrow(table)))
    colour <- ifelse(table$method == "recommended", RED, "grey25")
    graphics::plot(
      table$estimate, height, xlim = range(table[["5%"]], table[["95%"]]), ylim = c(0.5, nrow(table) + 0.5),
      pch = 19, col = colour, yaxt = "n", xlab = "", ylab = "", main = name, ...
    )
    graphics::segments(table[["5%"]], height, table[["95%"]], height, col = colour, lwd = 2)
    graphics::axis(2, at = height, labels = table$method, las = 1)
  }
  graphics::mtext(main, outer = TRUE, font = 2)
}

# Responses against what the predictors beside them predict; rows that are probably linked wrongly are filled.
plot_rows <- function(fit, main = rows_title(fit), ...) {
  rows <- fit$rows
  if (!all(c("response", "fitted") %in% names(rows))) {
    fail("the rows of this fit have no single fitted value; plot(fit, which = 1) draws the coefficients")
  }
  colours <- grDevices::colorRampPalette(c("grey60", RED))(101)
  graphics::plot(
    rows$fitted, rows$response, pch = ifelse(rows$p_moved > 0.5, 19, 1), col = colours[1 + round(100 * rows$p_moved)],
    xlab = "fitted by the predictors beside it", ylab = "response", main = main, ...
  )
  graphics::abline(0, 1, col = "grey60")
  graphics::legend("topleft", c("link probably wrong", "link probably right"), pch = c(19, 1), col = c(RED, "grey60"), bty = "n")
}

rows_title <- function(fit) {
  if (isTRUE(fit$trust$trusted)) "Responses as linked" else "Responses as linked; the model behind the links is not trusted"
}
