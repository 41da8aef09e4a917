// The shipped linear model with `log_lik`, for the "stan" family, and a number of Stan's own generator for each draw.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma2;
  vector[N] y;
}
model {
  beta ~ normal(0, sqrt(1000));
  sigma2 ~ normal(0, sqrt(1000));
  target += alpha * normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2));
}
generated quantities {
  real noise = normal_rng(0, 1);
  vector[N] log_lik;
  {
    vector[N] mu = X * beta;
    for (i in 1:N) {
      log_lik[i] = normal_lpdf(y[i] | mu[i], sqrt(sigma2));
    }
  }
}
