// Linear regression whose prior suits predictors of any scale.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  vector<lower=0>[D] prior_sd;
  real<lower=0, upper=1> alpha;
}
parameters {
  real<lower=0> sigma2;
  vector[N] y;
  vector[D] beta;
}
model {
  beta ~ normal(0, prior_sd);
  sigma2 ~ normal(0, 5);
  target += alpha * normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2));
}
