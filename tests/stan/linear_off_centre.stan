// The shipped linear model with priors that matter.
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
  beta ~ normal(0.5, 0.4);
  sigma2 ~ normal(0, 1.5);
  target += alpha * normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2));
}
