// Linear regression with normal errors whose coefficients differ between groups, for data whose rows may be linked wrongly.
//
// The formula of the config has terms by group: "wage ~ education + (1 + education | region)".
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// Groups belong to the rows of X: a response that moves comes to the group of its new row.
// The links are drawn by `log_lik`, the log density of each row without alpha: after changing the likelihood, change it too.
functions {
  // Log density of each row around its mean.
  vector log_density(vector y, vector mu, real sigma2) {
    return -0.5 * (log(2 * pi() * sigma2) + square(y - mu) / sigma2);
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
  int<lower=1> J;                  // groups
  int<lower=1> L;                  // columns whose coefficients differ between groups
  array[N] int<lower=1, upper=J> group;
  matrix[N, L] Z;                  // these columns; beside an intercept they are measured from their means
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  vector[D] beta_location;
  vector<lower=0>[D] beta_scale;
  real<lower=0> sigma2_scale;
  vector<lower=0>[L] tau_scale;
}
parameters {
  vector[D] beta;                  // coefficients of the average group
  real<lower=0> sigma2;
  vector<lower=0>[L] tau;          // standard deviations of the coefficients between groups
  cholesky_factor_corr[L] C;       // of their correlations
  matrix[L, J] z;                  // standard normal: the deviations are made of it, so that few rows in a group do no harm
  vector[N] y;
  vector[weighted * N] weight;
}
transformed parameters {
  matrix[L, J] u = diag_pre_multiply(tau, C) * z;   // u[l, j]: deviation of group j in coefficient l
}
model {
  vector[N] own = rows_dot_product(Z, u[, group]');
  vector[N] mu = has_offset ? X * beta + own + offsets : X * beta + own;
  vector[N] rows = log_density(y, mu, sigma2);
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the response expected there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  sigma2 ~ normal(0, sigma2_scale);
  tau ~ normal(0, tau_scale);
  C ~ lkj_corr_cholesky(1);
  to_vector(z) ~ std_normal();
  target += alpha * (weighted ? dot_product(weight, rows) : sum(rows));
}
generated quantities {
  vector[N] log_lik = log_density(y, (has_offset ? X * beta + offsets : X * beta) + rows_dot_product(Z, u[, group]'), sigma2);
}
