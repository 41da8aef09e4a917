// Gamma regression of positive amounts with a log link, for data whose rows may be linked wrongly.
//
// The mean is mu = exp(x'beta), the variance mu^2 / shape.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// The links are sampled from `log_lik` ("family": {"name": "stan"}): after changing the likelihood, change it too.
functions {
  // The log density of each amount; the rate is shape / mu.
  vector log_density(vector y, vector eta, real shape) {
    return shape * (log(shape) - eta) - lgamma(shape) + (shape - 1) * log(y) - shape * y .* exp(-eta);
  }
}
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
}
parameters {
  vector[D] beta;
  real<lower=0> shape;
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[N] rows = log_density(y, has_offset ? X * beta + offsets : X * beta, shape);
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the log of the mean there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  shape ~ gamma(2, 0.1);
  target += alpha * (weighted ? dot_product(weight, rows) : sum(rows));
}
generated quantities {
  vector[N] log_lik = log_density(y, has_offset ? X * beta + offsets : X * beta, shape);   // of each row, without alpha
}
