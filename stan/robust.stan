// Linear regression with heavy tails and a spread that depends on the predictors, for data whose rows may be linked wrongly.
//
// The errors are Student t with free degrees of freedom nu. The log of their scale is linear in the predictors:
// log(sigma) + z'gamma, where z has the columns of X that vary, centred and in units of their standard deviations.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// The family is {"name": "robust"}, which reads beta, sigma, gamma and nu: after changing the likelihood, set
// `model.family` in the config to "stan" and add `log_lik`.
functions {
  int varies(vector x) {
    return sd(x) > 1e-10 * max(abs(x));
  }
  int num_varying(matrix X) {
    int count = 0;
    for (d in 1 : cols(X)) {
      count += varies(X[, d]);
    }
    return count;
  }
  // The columns that vary, centred and in units of their standard deviations.
  matrix standardised(matrix X) {
    matrix[rows(X), num_varying(X)] Z;
    int next = 1;
    for (d in 1 : cols(X)) {
      if (varies(X[, d])) {
        Z[, next] = (X[, d] - mean(X[, d])) / sd(X[, d]);
        next += 1;
      }
    }
    return Z;
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
  real<lower=0> sigma_scale;
}
transformed data {
  matrix[N, num_varying(X)] Z = standardised(X);
}
parameters {
  vector[D] beta;
  real<lower=0> sigma;             // scale of the errors where all predictors are at their means
  vector[cols(Z)] gamma;           // change of the log scale for each standard deviation of a predictor
  real<lower=1> nu;                // degrees of freedom
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[N] mu = has_offset ? X * beta + offsets : X * beta;
  vector[N] log_scale = log(sigma) + Z * gamma;
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the response expected there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  sigma ~ normal(0, sigma_scale);
  gamma ~ normal(0, 0.5);
  nu ~ gamma(2, 0.1);
  if (weighted) {
    real log_constant = lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu) - 0.5 * log(nu * pi());
    vector[N] tail = 0.5 * (nu + 1) * log1p(square((y - mu) ./ exp(log_scale)) / nu);
    target += alpha * dot_product(weight, log_constant - log_scale - tail);
  } else {
    target += alpha * student_t_lpdf(y | nu, mu, exp(log_scale));
  }
}
