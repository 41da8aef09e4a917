// The linear model, with the responses of new rows drawn by the program.
data {
  int<lower=1> N;
  int<lower=1> D;
  matrix[N, D] X;
  real<lower=0, upper=1> alpha;
  int<lower=0> N_new;
  matrix[N_new, D] X_new;
}
parameters {
  vector[D] beta;
  vector[N] y;
  real<lower=0> sigma2;
}
model {
  beta ~ normal(0, sqrt(1000));
  sigma2 ~ normal(0, sqrt(1000));
  target += alpha * normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2));
}
generated quantities {
  vector[N_new] y_new;
  for (n in 1:N_new)
    y_new[n] = normal_rng(X_new[n] * beta, sqrt(sigma2));
}
