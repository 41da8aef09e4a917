// One slope with weights for the rows; the priors keep every conditional posterior away from narrow necks.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;
}
parameters {
  vector[weighted * N] weight;
  vector[D] beta;
  vector[N] y;
  real<lower=0> sigma2;
}
model {
  beta ~ normal(0, 2);
  sigma2 ~ lognormal(0, 0.7);
  if (weighted) {
    for (i in 1 : N) {
      target += alpha * weight[i] * normal_lpdf(y[i] | X[i] * beta, sqrt(sigma2));
    }
  } else {
    target += alpha * normal_lpdf(y | X * beta, sqrt(sigma2));
  }
}
generated quantities {
  vector[N] log_lik;
  for (i in 1 : N) {
    log_lik[i] = normal_lpdf(y[i] | X[i] * beta, sqrt(sigma2));
  }
}
