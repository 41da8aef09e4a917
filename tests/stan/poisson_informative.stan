// The shipped poisson model with a prior narrow enough to simulate from.
data {
  int<lower=1> N;                  // rows
  int<lower=1> D;                  // columns of X, the intercept included
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
}
parameters {
  vector[D] beta;
  vector[N] y;
}
model {
  vector[N] eta = X * beta;        // log of the mean
  beta ~ normal(0, 1);
  // Without sum(lgamma(y + 1)), which neither links nor parameters change.
  target += alpha * (dot_product(y, eta) - sum(exp(eta)));
}
generated quantities {
  vector[N] log_lik;               // of each row, without alpha
  {
    vector[N] eta = X * beta;
    log_lik = y .* eta - exp(eta) - lgamma(y + 1);
  }
}
