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

# Each coefficient with its 90 % interval by method, on a scale of its own.
plot_coefficients <- function(fit, methods = unique(fit$estimates$method), main = "Coefficients, 90 % intervals", ...) {
  names <- unique(fit$estimates$name)
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(names)), mar = c(3, 7, 2.5, 1), oma = c(0, 0, 1.5, 0))
  on.exit(graphics::par(old))
  for (name in names) {
    table <- fit$estimates[fit$estimates$name == name & fit$estimates$method %in% methods, ]
    height <- rev(seq_len(nrow(table)))
    colour <- ifelse(table$method == "recommended", "#b2182b", "grey25")
    graphics::plot(
      table$estimate, height, xlim = range(table[["5%"]], table[["95%"]]), ylim = c(0.5, nrow(table) + 0.5),
      pch = 19, col = colour, yaxt = "n", xlab = "", ylab = "", main = name, ...
    )
    graphics::segments(table[["5%"]], height, table[["95%"]], height, col = colour)
    graphics::axis(2, at = height, labels = table$method, las = 1)
  }
  graphics::mtext(main, outer = TRUE, font = 2)
}

# Responses against what the predictors beside them predict; rows that are probably linked wrongly are filled.
plot_rows <- function(fit, main = "Responses as linked", ...) {
  rows <- fit$rows
  if (!all(c("response", "fitted") %in% names(rows))) {
    fail("the rows of this fit have no single fitted value, so plot(fit, which = 1) has the only picture")
  }
  wrong <- rows$p_moved > 0.5
  graphics::plot(
    rows$fitted, rows$response, pch = ifelse(wrong, 19, 1), col = grDevices::rgb(0.7, 0.09, 0.17, 0.15 + 0.85 * rows$p_moved),
    xlab = "fitted by the predictors beside it", ylab = "response", main = main, ...
  )
  graphics::abline(0, 1, col = "grey60")
  graphics::legend(
    "topleft", c("link probably wrong", "link probably right"), pch = c(19, 1),
    col = c(grDevices::rgb(0.7, 0.09, 0.17), "grey60"), bty = "n"
  )
}
