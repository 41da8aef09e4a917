// One slope with weights for the rows, the paper's priors, and the links by log_lik; or with one mistake in the weights,
// chosen by `mistake`.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=1> weighted;
  int<lower=0, upper=3> mistake;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma2;
  vector[weighted * N] weight;
  vector[N] y;
}
model {
  beta ~ normal(0, sqrt(1000));
  sigma2 ~ normal(0, sqrt(1000));
  vector[N] rows = -0.5 * (log(2 * pi() * sigma2) + square(y - X * beta) / sigma2);
  if (weighted && mistake == 1) {                     // squared
    target += alpha * dot_product(square(weight), rows);
  } else if (weighted && mistake == 2) {              // that of another row
    target += alpha * weight[1] * sum(rows);
  } else if (weighted && mistake < 3) {
    target += alpha * dot_product(weight, rows);
  } else {                                            // 3: forgotten
    target += alpha * sum(rows);
  }
}
generated quantities {
  vector[N] log_lik = -0.5 * (log(2 * pi() * sigma2) + square(y - X * beta) / sigma2);
}
