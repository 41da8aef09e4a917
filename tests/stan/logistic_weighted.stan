// One slope, responses of 0 and 1, and weights for the rows.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;
}
parameters {
  vector[D] beta;
  vector[N] y;
  vector[weighted * N] weight;
}
model {
  vector[N] eta = X * beta;
  beta ~ normal(0, 2.5);
  target += alpha * (weighted ? dot_product(weight, y .* eta - log1p_exp(eta)) : sum(y .* eta - log1p_exp(eta)));
}
