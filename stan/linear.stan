// Linear regression with normal errors, for data whose rows may be linked wrongly.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// After changing the likelihood, set `model.family` in the config to match (or to "stan").
data {
  int<lower=1> N;                  // rows
  int<lower=1> D;                  // columns of X, the intercept included
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;  // whether rows have weights
  int<lower=0, upper=1> has_offset; // whether something known is added to the linear predictor
  vector[has_offset * N] offsets;  // data.offset in the config; it stays with the row of X
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  vector[D] beta_location;
  vector<lower=0>[D] beta_scale;
  real<lower=0> sigma2_scale;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma2;
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the response expected there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  sigma2 ~ normal(0, sigma2_scale);
  if (weighted) {
    vector[N] mu = has_offset ? X * beta + offsets : X * beta;
    target += -0.5 * alpha * dot_product(weight, log(2 * pi() * sigma2) + square(y - mu) / sigma2);
  } else if (has_offset) {
    target += alpha * normal_id_glm_lpdf(y | X, offsets, beta, sqrt(sigma2));
  } else {
    target += alpha * normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2));
  }
}
