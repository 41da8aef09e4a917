// A differential equation and an integral, for which all of Stan's headers are needed.
functions {
  vector decay(real t, vector state, real rate) {
    return -rate * state;
  }
  real line(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return theta[1] * x;
  }
}
parameters {
  real rate;
}
transformed parameters {
  real state = ode_rk45(decay, [1.0]', 0, {1.0}, rate)[1][1];
  real area = integrate_1d(line, 0, 2, {rate}, {0.0}, {0});
}
model {
  rate ~ normal(0, 1);
}
