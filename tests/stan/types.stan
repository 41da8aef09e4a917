// Every constrained type, for the checks of transforms, names and derivatives.
data {
  int<lower=1> N;
  vector[N] centre;
  int<lower=0, upper=1> talk;
}
parameters {
  real<lower=-1> low;
  real<upper=2> high;
  vector<lower=0>[N] positive;
  vector<lower=-1, upper=3>[N] between;
  vector<offset=1, multiplier=2>[N] shifted;
  simplex[3] shares;
  ordered[3] steps;
  positive_ordered[3] rising;
  unit_vector[3] direction;
  cholesky_factor_corr[3] L_corr;
  cholesky_factor_cov[3, 2] L_cov;
  corr_matrix[3] Omega;
  cov_matrix[2] Sigma;
  array[2] vector[3] stacked;
  matrix[2, 3] M;
}
transformed parameters {
  matrix[2, 3] doubled = 2 * M;
}
model {
  if (talk) print("low is ", low);
  low ~ normal(0, 1);
  high ~ normal(0, 1);
  positive ~ lognormal(0, 1);
  between ~ normal(centre, 1);
  shifted ~ normal(1, 2);
  shares ~ dirichlet([2, 3, 4]');
  steps ~ normal(0, 2);
  rising ~ gamma(2, 1);
  direction[1] ~ normal(0, 1);
  L_corr ~ lkj_corr_cholesky(2);
  to_vector(L_cov) ~ normal(0, 1);
  Omega ~ lkj_corr(3);
  Sigma ~ inv_wishart(5, identity_matrix(2));
  for (k in 1 : 2) stacked[k] ~ normal(k, 1);
  to_vector(M) ~ normal(0, 1);
}
generated quantities {
  real drawn = normal_rng(low, 1);
  array[2, 3] int counted;
  for (i in 1 : 2) for (j in 1 : 3) counted[i, j] = 10 * i + j;
}
