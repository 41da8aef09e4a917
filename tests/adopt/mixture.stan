data {
  int<lower=1> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  ordered[2] a;
  real b;
  real<lower=0> sigma;
  real<lower=0, upper=1> share;
}
model {
  for (n in 1:N) {
    target += log_mix(share,
                      normal_lpdf(y[n] | a[1] + b * x[n], sigma),
                      normal_lpdf(y[n] | a[2] + b * x[n], sigma));
  }
}
