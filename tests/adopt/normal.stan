// Wages on schooling: an intercept of its own, called alpha as everywhere.
data {
  int<lower=0> n;        // workers
  int<lower=0> K;        // predictors
  matrix[n, K] x;
  vector[n] wage;        // log of the hourly wage
}
parameters {
  real alpha;            // intercept
  vector[K] beta;
  real<lower=0> sigma;
}
model {
  alpha ~ normal(0, 5);
  beta ~ normal(0, 2);
  sigma ~ exponential(1);
  wage ~ normal(alpha + x * beta, sigma);   // the likelihood
}
generated quantities {
  real at_mean = alpha + mean(x * beta);
}
