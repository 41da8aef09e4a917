// A slope for each response, with known and independent errors: the posterior of the slopes given the links is normal.
data {
  int<lower=1> N;
  int<lower=1> D;
  int<lower=1> K;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  vector<lower=0>[K] sd;
}
parameters {
  vector[K] beta;
  matrix[N, K] y;
}
model {
  beta ~ normal(0, 2);
  for (k in 1:K) {
    target += alpha * normal_lpdf(y[, k] | X[, 1] * beta[k], sd[k]);
  }
}
generated quantities {
  vector[N] log_lik;
  for (i in 1:N) {
    log_lik[i] = normal_lpdf(y[i] | X[i, 1] * beta', sd');
  }
}
