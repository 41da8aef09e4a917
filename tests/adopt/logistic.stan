data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real intercept;
  vector[D] beta;
}
model {
  intercept ~ normal(0, 3);
  beta ~ normal(0, 3);
  y ~ bernoulli_logit_glm(X, intercept, beta);
}
