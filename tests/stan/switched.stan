// The linear model with one mistake at a time, chosen by `mistake`: what the agreement check must catch.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0, upper=4> mistake;
}
parameters {
  vector[D] beta;
  real<lower=0> sigma2;
  vector[N] y;
}
model {
  vector[N] mu = X * beta;
  sigma2 ~ normal(0, sqrt(1000));
  if (mistake == 1) {                       // an edited likelihood
    target += alpha * student_t_lpdf(y | 5, mu, sqrt(sigma2));
  } else if (mistake == 3) {                // alpha forgotten
    target += normal_lpdf(y | mu, sqrt(sigma2));
  } else {
    target += alpha * normal_lpdf(y | mu, sqrt(sigma2));
  }
  target += (mistake == 2 ? alpha : 1) * normal_lpdf(beta | 0, 5);    // 2: the prior tempered too
  if (mistake == 4) {                       // the likelihood has alpha, another term in y has not
    target += 0.1 * dot_product(y, mu) / sigma2;
  }
}
generated quantities {
  vector[N] log_lik;
  for (i in 1:N) log_lik[i] = normal_lpdf(y[i] | X[i] * beta, sqrt(sigma2));
}
