data {
  int<lower=1> N;
  vector[N] x;
  array[N] real y;
  real<lower=0> prior_scale;
}
parameters {
  real a;
  real b;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, prior_scale);
  b ~ normal(0, prior_scale);
  sigma ~ cauchy(0, 1);
  for (n in 1:N) {
    real mu;
    mu = a + b * x[n]; /* one row */
    y[n] ~ normal(mu, sigma);
  }
}
