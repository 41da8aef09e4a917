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
}
parameters {
  vector[D] beta;
  real<lower=0> shape;
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[N] rows = log_density(y, X * beta, shape);
  beta ~ normal(0, 5);
  shape ~ gamma(2, 0.1);
  target += alpha * (weighted ? dot_product(weight, rows) : sum(rows));
}
generated quantities {
  vector[N] log_lik = log_density(y, X * beta, shape);   // of each row, without alpha
}
