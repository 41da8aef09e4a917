// Weibull regression of times that may be censored, for data whose rows may be linked wrongly.
//
// The config has "formula": "Surv(time, event) ~ x": y[, 1] is the time, above 0, and y[, 2] is 1 where the event was seen at that
// time and 0 where the time is censored, so that the event comes later. A link moves both together.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, K, X and alpha in `data`, and `matrix[N, K] y` in `parameters`.
//   y has the responses in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// The links are drawn by `log_lik`, the log density of each row without alpha: after changing the likelihood, change it too.
functions {
  // Log density of an event at its time, or log probability that it comes later. log_scale is the log of the time by which
  // the event has come with probability 1 - 1/e.
  vector log_density(matrix y, vector log_scale, real shape) {
    vector[rows(y)] log_time = log(y[, 1]);
    vector[rows(y)] z = shape * (log_time - log_scale);
    return y[, 2] .* (log(shape) - log_time + z) - exp(z);
  }
}
data {
  int<lower=1> N;                  // rows
  int<lower=1> D;                  // columns of X, the intercept included
  int<lower=2, upper=2> K;         // time and event
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;  // whether rows have weights
  int<lower=0, upper=1> has_offset; // whether something known is added to the linear predictor
  vector[has_offset * N] offsets;  // data.offset in the config; it stays with the row of X
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  // Their first column is that of the times.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  matrix[D, K] beta_location;
  matrix<lower=0>[D, K] beta_scale;
}
parameters {
  vector[D] beta;                  // on the scale of log times: exp(beta) multiplies the time
  real<lower=0> shape;             // the hazard grows with time above 1 and falls below 1
  matrix[N, K] y;
  vector[weighted * N] weight;
}
model {
  vector[N] rows = log_density(y, has_offset ? X * beta + offsets : X * beta, shape);
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the log time expected there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location[, 1], beta_scale[, 1]);
  shape ~ normal(0, 2.5);
  target += alpha * (weighted ? dot_product(weight, rows) : sum(rows));
}
generated quantities {
  vector[N] log_lik = log_density(y, has_offset ? X * beta + offsets : X * beta, shape);
}
