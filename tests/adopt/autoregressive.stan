data {
  int<lower=2> N;
  vector[N] y;
}
parameters {
  real a;
  real b;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  sigma ~ normal(0, 1);
  for (n in 2:N) {
    y[n] ~ normal(a + b * y[n - 1], sigma);
  }
}
