// Linear regression of several responses at once, with correlated normal errors, for data whose rows may be linked wrongly.
//
// A link moves all responses of a row together, so each of them helps to find the wrong links.
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, K, X and alpha in `data`, and `matrix[N, K] y` in `parameters`.
//   y has the responses in the order of the rows of X. unshuffle sets it anew whenever a link changes and
//   never samples it, so it needs no prior. alpha is the temperature: it multiplies the likelihood, never a prior.
//   weight multiplies the log likelihood of each row where `weighted` is 1, and is empty where it is 0. unshuffle sets
//   both: with "feedback": "none" in the config, weight is 1 while a row's link stays and 0 while the row is moved.
// K comes from the config, where `data.response` is a list, such as ["log_food", "log_rent"].
// The links are drawn by `log_lik`, the log density of each row without alpha: after changing the likelihood, change it too.
functions {
  // Log density of each row of y around the same row of mu, for errors with the covariance S S'.
  vector log_density(matrix y, matrix mu, matrix S) {
    matrix[cols(y), rows(y)] z = mdivide_left_tri_low(S, (y - mu)');
    return -0.5 * columns_dot_self(z)' - sum(log(diagonal(S))) - 0.5 * cols(y) * log(2 * pi());
  }
}
data {
  int<lower=1> N;                  // rows
  int<lower=1> D;                  // columns of X, the intercept included
  int<lower=1> K;                  // responses
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;  // whether rows have weights
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  matrix[D, K] beta_location;
  matrix<lower=0>[D, K] beta_scale;
  vector<lower=0>[K] sigma2_scale;
}
parameters {
  matrix[D, K] beta;               // beta[d, k]: coefficient of column d of X for response k
  vector<lower=0>[K] sigma2;       // variances of the errors
  cholesky_factor_corr[K] L;       // of the correlations between the errors of a row
  matrix[N, K] y;
  vector[weighted * N] weight;
}
model {
  vector[N] rows = log_density(y, X * beta, diag_pre_multiply(sqrt(sigma2), L));
  matrix[D, K] centred = beta;     // of predictors measured from their means: the intercepts are the responses expected there
  centred[1] += X_centre * beta;
  to_vector(centred) ~ normal(to_vector(beta_location), to_vector(beta_scale));
  sigma2 ~ normal(0, sigma2_scale);
  L ~ lkj_corr_cholesky(1);
  target += alpha * (weighted ? dot_product(weight, rows) : sum(rows));
}
generated quantities {
  // Between the errors of the responses 1 and 2, 1 and 3, 2 and 3, 1 and 4, ...
  vector<lower=-1, upper=1>[(K * (K - 1)) %/% 2] correlation;
  vector[N] log_lik = log_density(y, X * beta, diag_pre_multiply(sqrt(sigma2), L));
  {
    int next = 1;
    for (k in 2:K) {
      for (j in 1:(k - 1)) {
        correlation[next] = dot_product(L[j], L[k]);
        next += 1;
      }
    }
  }
}
