// The linear model on a part of its space, without a `beta`: the rest is rejected, as by an ODE solver that gives up.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  real limit;
}
parameters {
  vector[D] slopes;
  real<lower=0> sigma2;
  vector[N] y;
}
model {
  if (slopes[1] > limit) reject("slopes[1] must stay below ", limit, " and is ", slopes[1]);
  slopes ~ normal(0, sqrt(1000));
  sigma2 ~ normal(0, sqrt(1000));
  target += alpha * normal_id_glm_lpdf(y | X, 0, slopes, sqrt(sigma2));
}
