// The shipped quantile model with priors narrow enough to simulate from.
functions {
  real asymmetric_laplace_lpdf(vector y, vector mu, real sigma, real tau) {
    vector[num_elements(y)] u = y - mu;
    real rho = 0.5 * sum(abs(u)) + (tau - 0.5) * sum(u);
    return num_elements(y) * log(tau * (1 - tau) / sigma) - rho / sigma;
  }
}
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  real<lower=0, upper=1> tau;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma;
  vector[N] y;
}
model {
  beta ~ normal(0, 1);
  sigma ~ normal(0, 1);
  target += alpha * asymmetric_laplace_lpdf(y | X * beta, sigma, tau);
}
