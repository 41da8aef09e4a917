// The BridgeStan 2.9 C interface on top of Stan's model_base; linked with one compiled Stan model.

#include "model.hpp"

using namespace bridge;

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT extern const int bs_major_version;
EXPORT extern const int bs_minor_version;
EXPORT extern const int bs_patch_version;
const int bs_major_version = 2;
const int bs_minor_version = 9;
const int bs_patch_version = 0;

EXPORT bs_model* bs_model_construct(const char* data, unsigned int seed, char** error_msg) {
  bs_model* result = nullptr;
  guarded(error_msg, [&](Thread& thread) {
    stan::json::json_data context = read_data(data);
    result = new bs_model(new_model(context, seed, &thread.messages));
  });
  return result;
}

EXPORT void bs_model_destruct(bs_model* m) { delete m; }

EXPORT void bs_free_error_msg(char* error_msg) { std::free(error_msg); }

EXPORT const char* bs_name(const bs_model* m) { return m->name.c_str(); }

EXPORT const char* bs_model_info(const bs_model* m) { return m->info.c_str(); }

EXPORT const char* bs_param_names(const bs_model* m, bool include_tp, bool include_gq) {
  return m->constrained_names(include_tp, include_gq).joined.c_str();
}

EXPORT const char* bs_param_unc_names(const bs_model* m) {
  return m->unconstrained_names().joined.c_str();
}

EXPORT int bs_param_num(const bs_model* m, bool include_tp, bool include_gq) {
  return m->constrained_names(include_tp, include_gq).count;
}

EXPORT int bs_param_unc_num(const bs_model* m) { return static_cast<int>(m->size()); }

EXPORT int bs_param_constrain(const bs_model* m, bool include_tp, bool include_gq,
                              const double* theta_unc, double* theta, bs_rng* rng,
                              char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    if (include_gq && !rng) throw std::invalid_argument("generated quantities need an rng");
    thread.unconstrained = Input(theta_unc, m->size());
    m->model->write_array(rng ? rng->engine : thread.idle_rng, thread.unconstrained,
                          thread.constrained, include_tp, include_gq, &thread.messages);
    Output(theta, thread.constrained.size()) = thread.constrained;
  });
}

EXPORT int bs_param_unconstrain(const bs_model* m, const double* theta, double* theta_unc,
                                char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    thread.constrained = Input(theta, m->constrained_names(false, false).count);
    m->model->unconstrain_array(thread.constrained, thread.unconstrained, &thread.messages);
    Output(theta_unc, m->size()) = thread.unconstrained;
  });
}

EXPORT int bs_param_unconstrain_json(const bs_model* m, const char* json, double* theta_unc,
                                     char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    m->model->transform_inits(parse_json(json), thread.unconstrained, &thread.messages);
    Output(theta_unc, m->size()) = thread.unconstrained;
  });
}

EXPORT int bs_param_initialize(const bs_model* m, const char* json, bs_rng* rng,
                               double init_radius, int max_tries, bool jacobian,
                               double* theta_unc, char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    if (!rng) throw std::invalid_argument("initialization needs an rng");
    if (!(init_radius >= 0) || !std::isfinite(init_radius))
      throw std::invalid_argument("init_radius must be finite and not negative");
    if (max_tries < 1) throw std::invalid_argument("max_tries must be at least 1");
    initialize(Density{*m, false, jacobian, thread}, parse_json(json), rng->engine, init_radius,
               max_tries, theta_unc);
  });
}

EXPORT int bs_log_density(const bs_model* m, bool propto, bool jacobian, const double* theta_unc,
                          double* lp, char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    *lp = Density{*m, propto, jacobian, thread}.value(theta_unc);
  });
}

EXPORT int bs_log_density_gradient(const bs_model* m, bool propto, bool jacobian,
                                   const double* theta_unc, double* val, double* grad,
                                   char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    *val = Density{*m, propto, jacobian, thread}.gradient(theta_unc, grad);
  });
}

EXPORT int bs_log_density_hessian(const bs_model* m, bool propto, bool jacobian,
                                  const double* theta_unc, double* val, double* grad,
                                  double* hessian, char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    const Density density{*m, propto, jacobian, thread};
    *val = density.gradient(theta_unc, grad);
    const Eigen::Index n = m->size();
    const Doubles x = Input(theta_unc, n);
    Doubles direction = Doubles::Zero(n), column;
    Eigen::Map<Eigen::MatrixXd> result(hessian, n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      direction[j] = 1;
      density.slope(x, direction, difference_step(x[j]), column);
      result.col(j) = column;
      direction[j] = 0;
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index i = 0; i < j; ++i)
        result(i, j) = result(j, i) = (result(i, j) + result(j, i)) / 2;
    }
  });
}

EXPORT int bs_log_density_hessian_vector_product(const bs_model* m, bool propto, bool jacobian,
                                                 const double* theta_unc, const double* vector,
                                                 double* val, double* hvp, char** error_msg) {
  return guarded(error_msg, [&](Thread& thread) {
    const Density density{*m, propto, jacobian, thread};
    *val = density.value(theta_unc);
    const Doubles x = Input(theta_unc, m->size()), direction = Input(vector, m->size());
    double largest = 0, length = 0;
    for (Eigen::Index i = 0; i < m->size(); ++i) {
      largest = std::max(largest, std::fabs(x[i]));
      length = std::max(length, std::fabs(direction[i]));
    }
    Doubles result = Doubles::Zero(m->size());
    if (length > 0) density.slope(x, direction, difference_step(largest) / length, result);
    Output(hvp, m->size()) = result;
  });
}

EXPORT bs_rng* bs_rng_construct(unsigned int seed, char** error_msg) {
  bs_rng* result = nullptr;
  guarded(error_msg, [&](Thread&) {
    result = new bs_rng{stan::services::util::create_rng(seed, 0)};
  });
  return result;
}

EXPORT void bs_rng_destruct(bs_rng* rng) { delete rng; }

EXPORT int bs_set_print_callback(Callback callback, char** error_msg) {
  return guarded(error_msg, [&](Thread&) { printer.redirect(callback); });
}

}  // extern "C"
