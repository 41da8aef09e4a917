functions {
  // Its argument is called alpha, which is nobody else's business.
  real shifted(real alpha) {
    return alpha + 2;
  }
}
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  vector[N] y;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma;
  real<lower=0> extra;
}
transformed parameters {
  vector[N] mu = X * beta;
  real nu = shifted(extra);
}
model {
  beta ~ normal(0, 10);
  sigma ~ normal(0, 10);
  extra ~ gamma(2, 0.1);
  target += student_t_lupdf(y | nu, mu, sigma);
}
