// Columns of the file as entries of the data block: codes with their number, and numbers.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=1> J_region;
  array[N] int<lower=1, upper=J_region> region;
  vector<lower=0>[N] error;
  array[N] int year;
}
parameters {
  vector[D] beta;
  vector[J_region] level;
  vector[N] y;
}
model {
  beta ~ normal(0, 10);
  level ~ normal(0, 2);
  target += alpha * normal_lpdf(y | X * beta + level[region], error);
}
generated quantities {
  int first_year = min(year);
  vector[N] log_lik;
  for (i in 1:N) {
    log_lik[i] = normal_lpdf(y[i] | X[i] * beta + level[region[i]], error[i]);
  }
}
