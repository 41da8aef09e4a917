library(testthat)
library(unshuffle)

test_check("unshuffle")
