// Quantile regression (asymmetric Laplace errors), for data whose rows may be linked wrongly.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// The quantile tau comes from `model.family` in the config: {"name": "asymmetric_laplace", "tau": 0.5}.
// After changing the likelihood, set `model.family` in the config to match (or to "stan").
functions {
  // Density tau (1 - tau) / sigma * exp(-rho(u) / sigma) of each u = y - mu, where
  // rho(u) = u (tau - 1{u < 0}) = |u| / 2 + (tau - 1/2) u.
  real asymmetric_laplace_lpdf(vector y, vector mu, real sigma, real tau) {
    vector[num_elements(y)] u = y - mu;
    real rho = 0.5 * sum(abs(u)) + (tau - 0.5) * sum(u);
    return num_elements(y) * log(tau * (1 - tau) / sigma) - rho / sigma;
  }
  // The same with a weight for each row.
  real weighted_laplace_lpdf(vector y, vector mu, real sigma, real tau, vector weight) {
    vector[num_elements(y)] u = y - mu;
    real rho = 0.5 * dot_product(weight, abs(u)) + (tau - 0.5) * dot_product(weight, u);
    return sum(weight) * log(tau * (1 - tau) / sigma) - rho / sigma;
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
  real<lower=0, upper=1> tau;      // the quantile; 0.5 is the median
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  vector[D] beta_location;
  vector<lower=0>[D] beta_scale;
  real<lower=0> sigma_scale;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma;
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[N] mu = has_offset ? X * beta + offsets : X * beta;
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the quantile there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  sigma ~ normal(0, sigma_scale);
  target += alpha * (weighted ? weighted_laplace_lpdf(y | mu, sigma, tau, weight)
                              : asymmetric_laplace_lpdf(y | mu, sigma, tau));
}
