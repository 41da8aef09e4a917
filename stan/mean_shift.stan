// Linear regression in which about k rows are shifted by a normal amount: a mislinked row counts as an outlier.
//
// With probability k / N a row has y = x'beta + f + error, f ~ normal(0, sqrt(sigma_f2)); otherwise f = 0. The shift f
// is integrated out, which leaves a mixture of two normals with the variances sigma2 and sigma2 + sigma_f2.
// This model says which rows look mislinked, not where they belong: it relinks nothing, so its config has
//   "model": {"stan": "mean_shift", "data": {"k": 20}}, "permutation": {"update": {"name": "none"}}
//
// What you may edit: the priors, the likelihood, new parameters and generated quantities.
// What must stay: the names N, D, X and alpha in `data`, and `vector[N] y` in `parameters`.
//   y is the response as it was linked. unshuffle sets it and never samples it, so it needs no prior.
//   alpha is the temperature: it multiplies the likelihood, never a prior.
data {
  int<lower=1> N;                  // rows
  int<lower=1> D;                  // columns of X, the intercept included
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  real<lower=0, upper=N> k;        // expected number of shifted rows, from `model.data` in the config
  // Numbers of the priors: from your file, or the paper's (model.priors in the config); model.data may give your own.
  row_vector[D] X_centre;          // means of the predictors; 0 for the intercept, and 0 for all without an intercept
  vector[D] beta_location;
  vector<lower=0>[D] beta_scale;
  real<lower=0> sigma2_scale;
  real<lower=0> sigma_f2_scale;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma2;
  real<lower=0> sigma_f2;          // variance of the shifts
  vector[N] y;
}
model {
  vector[N] mu = X * beta;
  vector[D] centred = beta;        // of predictors measured from their means: the intercept is the response expected there
  centred[1] += X_centre * beta;
  centred ~ normal(beta_location, beta_scale);
  sigma2 ~ normal(0, sigma2_scale);
  sigma_f2 ~ normal(0, sigma_f2_scale);
  for (i in 1:N) {
    target += alpha * log_mix(k / N, normal_lpdf(y[i] | mu[i], sqrt(sigma2 + sigma_f2)),
                                     normal_lpdf(y[i] | mu[i], sqrt(sigma2)));
  }
}
generated quantities {
  vector<lower=0, upper=1>[N] p_shifted;   // probability that each row is shifted, given the parameters
  {
    vector[N] mu = X * beta;
    for (i in 1:N) {
      real shifted = log(k / N) + normal_lpdf(y[i] | mu[i], sqrt(sigma2 + sigma_f2));
      real unshifted = log1m(k / N) + normal_lpdf(y[i] | mu[i], sqrt(sigma2));
      p_shifted[i] = inv_logit(shifted - unshifted);
    }
  }
}
