data {
  int<lower=1> N;
  vector[N] x;
  vector<lower=0>[N] z;
  vector<lower=0>[N] income;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> region;
}
transformed data {
  vector[N] x2 = x .* x;
}
parameters {
  real a;
  vector[2] b;
  vector<lower=0>[J] sigma;
}
model {
  vector[N] eta = a + b[1] * x;
  real unused = 1;
  sigma ~ normal(0, unused);
  eta += b[2] * x2 + log1p(z);
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  income ~ lognormal(eta, sigma[region]);
}
