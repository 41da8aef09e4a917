#' # Ten minutes with unshuffle in R: from a linked data frame to a reported result
#'
#' `make r` runs this script. `knitr::spin("docs/notebooks/ten_minutes.R")` makes a page of it.

library(unshuffle)

#' ## The linked file
#'
#' `engel` has the income and the food expenditure of 235 households. The two came from different files, and 47 households
#' (20 %) got the food expenditure of another one. With every link right, the slope is 0.856. Least squares takes the links as
#' they are, and its slope is too small.

str(engel)
coef(lm(log_food ~ log_income, engel))

#' ## The fit
#'
#' A formula and a data frame, as for `lm()`. `id` names the rows in the results. The fit stays in `folder`.

folder <- file.path(tempdir(), "engel")
fit <- unshuffle(log_food ~ log_income, engel, id = "household", seed = 1, folder = folder)

#' `print` says in plain words what was found and whether to trust it, then shows the recommended coefficients.

fit

#' ## Which coefficients to report
#'
#' The recommended ones come from the joint posterior where the checks of the model pass. Otherwise they come from an
#' estimate that needs less of the model. All estimates stand side by side in the table and in the picture.

coef(fit)
confint(fit)
fit$estimates
plot(fit, which = 1)

#' Each check has a sentence.

fit$trust$checks[c("name", "passed", "sentence")]

#' ## Which rows are linked wrongly
#'
#' For each row there is the probability that its link is wrong, and where its response probably belongs.

suspects <- fit$rows[order(-fit$rows$p_moved), c("id", "p_moved", "best_link", "p_best", "response", "fitted")]
head(suspects, 10)
plot(fit, which = 2)

#' ## What you know of the links
#'
#' Say that the links of the first 40 households were looked up, and that 13 of them turned out to be wrong. The other 27 are
#' safe. An audit of 100 other links of the same linkage found 18 wrong ones. Both are used exactly. A column of regions would
#' go into `block` in the same way.

wrong <- c(5, 7, 14, 15, 20, 22, 28, 31, 34, 36, 38, 39, 40)
engel$checked <- engel$household <= 40 & !engel$household %in% wrong
informed <- unshuffle(log_food ~ log_income, engel, safe = "checked", audit = c(100, 18), seed = 1)
confint(informed)

#' ## Any other analysis of the relinked data
#'
#' `completed()` draws data sets in which every response stands beside the predictors it belongs to. They are pooled by
#' Rubin's rules, here by mitools. `as_mids()` gives them to mice. The links were drawn by the model of the fit, so an
#' analysis should not ask for what that model leaves out: a curve, for example, would come out too weak.

library(mitools)
sets <- completed(fit, m = 20)
summary(MIcombine(with(sets, lm(log_food ~ log_income))))
summary(mice::pool(with(as_mids(fit, m = 20), lm(log_food ~ log_income))))

#' ## Draws and predictions

posterior::summarise_draws(posterior::as_draws(fit))
predict(fit, data.frame(log_income = log(c(500, 1000, 2000))))

#' ## The report
#'
#' One HTML file to keep with the paper. `load_unshuffle()` reads the fit again in another session.

unshuffle_report(fit)
again <- load_unshuffle(folder)
stopifnot(identical(coef(again), coef(fit)))
