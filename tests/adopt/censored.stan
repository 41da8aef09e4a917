data {
  int<lower=1> N;
  vector[N] x;
  vector[N] y;
  array[N] int<lower=0, upper=1> at_limit;
}
parameters {
  real a;
  real b;
  real<lower=0> sigma;
}
model {
  for (n in 1:N) {
    if (at_limit[n]) {
      target += normal_lccdf(y[n] | a + b * x[n], sigma);
    } else {
      target += normal_lpdf(y[n] | a + b * x[n], sigma);
    }
  }
}
