// The BridgeStan 2.9 C interface on top of Stan's model_base; linked with one compiled Stan model.

#include <stan/io/chained_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/io/random_var_context.hpp>
#include <stan/model/model_base.hpp>
#include <stan/version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef STAN_THREADS
#error "a model is called from several threads at once: compile with -DSTAN_THREADS"
#endif

#define EXPORT __attribute__((visibility("default")))

// Defined by the C++ that stanc generates.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed,
                                   std::ostream* messages);

namespace {

using stan::math::ChainableStack;
using stan::math::var;
using stan::model::model_base;
using Doubles = Eigen::VectorXd;
using Vars = Eigen::Matrix<var, Eigen::Dynamic, 1>;
using Input = Eigen::Map<const Doubles>;
using Output = Eigen::Map<Doubles>;
using Callback = void (*)(const char* data, size_t size);

// ---- what the model prints -----------------------------------------------------------------

// The unfinished line is kept by thread, as map_rect writes to one stream from several of them.
class Printer : public std::streambuf {
 public:
  void redirect(Callback callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    callback_ = callback;
  }

  void flush_line() {
    std::string& text = line();
    if (text.empty()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (callback_) {
      callback_(text.data(), text.size());
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    }
    text.clear();
  }

 protected:
  int_type overflow(int_type c) override {
    if (!traits_type::eq_int_type(c, traits_type::eof())) line().push_back(static_cast<char>(c));
    return traits_type::not_eof(c);
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    line().append(text, static_cast<size_t>(size));
    return size;
  }

  int sync() override {
    flush_line();
    return 0;
  }

 private:
  static std::string& line() {
    static thread_local std::string text;
    return text;
  }

  std::mutex mutex_;
  Callback callback_ = nullptr;
};

Printer printer;

// ---- what each thread owns -----------------------------------------------------------------

struct Thread {
  std::optional<ChainableStack> tape;
  std::ostream messages{&printer};
  stan::rng_t idle_rng;
  Doubles unconstrained, constrained;
  Vars vars;
};

Thread& this_thread() {
  static thread_local Thread thread;
  // Stan gives a tape only to the thread that loaded the library and to TBB's workers, and may
  // take it away again when TBB lets the thread go.
  if (!ChainableStack::instance_) thread.tape.emplace();
  return thread;
}

// Empties the tape however the scope is left, so that nothing outlives a call that threw.
struct TapeScope {
  TapeScope() = default;
  TapeScope(const TapeScope&) = delete;
  ~TapeScope() {
    while (!stan::math::empty_nested()) stan::math::recover_memory_nested();
    stan::math::recover_memory();
  }
};

void set_error(char** error_msg, const char* text) {
  if (error_msg) *error_msg = strdup(text);
}

// Runs the body with this thread's state; an exception becomes error_msg and -1.
template <typename Body>
int guarded(char** error_msg, Body&& body) {
  int code = -1;
  try {
    Thread& thread = this_thread();
    TapeScope scope;
    body(thread);
    code = 0;
  } catch (const std::exception& e) {
    set_error(error_msg, e.what());
  } catch (...) {
    set_error(error_msg, "unknown C++ exception");
  }
  printer.flush_line();
  return code;
}

// ---- data ----------------------------------------------------------------------------------

// Reads text where it lies: data can be large, and a stringstream would copy it.
struct TextBuffer : std::streambuf {
  explicit TextBuffer(const char* text) {
    char* begin = const_cast<char*>(text);
    setg(begin, begin, begin + std::strlen(text));
  }
};

stan::json::json_data parse_json(const char* text) {
  TextBuffer buffer(text && *text ? text : "{}");
  std::istream in(&buffer);
  return stan::json::json_data(in);
}

bool is_json_path(const char* text) {
  const std::string ending = ".json";
  const size_t size = text ? std::strlen(text) : 0;
  return size >= ending.size() && ending == text + size - ending.size();
}

stan::json::json_data read_data(const char* data) {
  if (!is_json_path(data)) return parse_json(data);
  std::ifstream file(data);
  if (!file) throw std::invalid_argument(std::string("cannot open data file ") + data);
  return stan::json::json_data(file);
}

// ---- names ---------------------------------------------------------------------------------

struct Names {
  std::once_flag once;
  std::string joined;
  int count = 0;

  void fill(const std::vector<std::string>& names) {
    count = static_cast<int>(names.size());
    for (const std::string& name : names) {
      if (!joined.empty()) joined += ',';
      joined += name;
    }
  }
};

std::string describe(const model_base& model) {
  std::string info = "Stan version: " + stan::MAJOR_VERSION + "." + stan::MINOR_VERSION + "."
                     + stan::PATCH_VERSION + "\nInterface: BridgeStan 2.9.0\n";
  for (const std::string& line : model.model_compile_info()) info += line + "\n";
  info += "Stan C++ defines:\n\tSTAN_THREADS=true\n";
#ifdef STAN_NO_RANGE_CHECKS
  info += "\tSTAN_NO_RANGE_CHECKS=true\n";
#endif
#ifdef STAN_OPENCL
  info += "\tSTAN_OPENCL=true\n";
#endif
  info += "Compiler: " __VERSION__ "\n";
#ifdef BRIDGE_FLAGS
  info += "Compiler flags: " BRIDGE_FLAGS "\n";
#endif
  return info;
}

}  // namespace

struct bs_rng {
  stan::rng_t engine;
};

struct bs_model {
  std::unique_ptr<const model_base> model;
  std::string name = model->model_name();
  std::string info = describe(*model);
  // Filled on first use: the generated quantities alone can have a great many names.
  mutable Names constrained[2][2];
  mutable Names unconstrained;

  explicit bs_model(model_base& built) : model(&built) {}

  Eigen::Index size() const { return static_cast<Eigen::Index>(model->num_params_r()); }

  const Names& constrained_names(bool tp, bool gq) const {
    Names& names = constrained[tp][gq];
    std::call_once(names.once, [&] {
      std::vector<std::string> list;
      model->constrained_param_names(list, tp, gq);
      names.fill(list);
    });
    return names;
  }

  const Names& unconstrained_names() const {
    std::call_once(unconstrained.once, [&] {
      std::vector<std::string> list;
      model->unconstrained_param_names(list, false, false);
      unconstrained.fill(list);
    });
    return unconstrained;
  }
};

namespace {

// ---- densities -----------------------------------------------------------------------------

// A model on the unconstrained scale, with the two flags that choose which density is meant.
struct Density {
  const bs_model& m;
  bool propto, jacobian;
  Thread& thread;

  double value(const double* x) const {
    // Only with autodiff types does Stan know which terms are constant.
    if (propto) return evaluate(x).val();
    thread.unconstrained = Input(x, m.size());
    return jacobian ? m.model->log_prob_jacobian(thread.unconstrained, &thread.messages)
                    : m.model->log_prob(thread.unconstrained, &thread.messages);
  }

  double gradient(const double* x, double* grad) const {
    TapeScope scope;
    var result = evaluate(x);
    const double value = result.val();
    result.grad();
    for (Eigen::Index i = 0; i < m.size(); ++i) grad[i] = thread.vars[i].adj();
    return value;
  }

  // Derivative of the gradient along a direction, by fourth-order central differences.
  void slope(const Doubles& x, const Doubles& direction, double step, Doubles& out) const {
    static constexpr double weights[] = {1, -8, 8, -1};
    static constexpr double places[] = {-2, -1, 1, 2};
    Doubles point(m.size()), grad(m.size());
    out.setZero(m.size());
    for (int k = 0; k < 4; ++k) {
      point = x + (places[k] * step) * direction;
      gradient(point.data(), grad.data());
      out += weights[k] / (12 * step) * grad;
    }
  }

 private:
  var evaluate(const double* x) const {
    Vars& vars = thread.vars;
    vars.resize(m.size());
    // "false": a leaf has nothing to propagate, so the reverse pass need not visit it.
    for (Eigen::Index i = 0; i < m.size(); ++i) vars[i] = var(new stan::math::vari(x[i], false));
    std::ostream* out = &thread.messages;
    if (propto) {
      return jacobian ? m.model->log_prob_propto_jacobian(vars, out)
                      : m.model->log_prob_propto(vars, out);
    }
    return jacobian ? m.model->log_prob_jacobian(vars, out) : m.model->log_prob(vars, out);
  }
};

// Balances rounding in the gradient (eps * |x| / step) against the truncation error (step^4).
double difference_step(double x) {
  return std::pow(std::numeric_limits<double>::epsilon() * std::max(1.0, std::fabs(x)), 0.2);
}

// ---- initial points ------------------------------------------------------------------------

// What random_var_context asks of a model, by the Eigen calls (the std::vector ones of a model
// are not compiled; see slim/).
struct InitModel {
  const bs_model& m;
  Thread& thread;

  size_t num_params_r() const { return m.model->num_params_r(); }

  void get_param_names(std::vector<std::string>& names, bool tp, bool gq) const {
    m.model->get_param_names(names, tp, gq);
  }

  void get_dims(std::vector<std::vector<size_t>>& dims, bool tp, bool gq) const {
    m.model->get_dims(dims, tp, gq);
  }

  void write_array(stan::rng_t& rng, std::vector<double>& x, std::vector<int>&,
                   std::vector<double>& out, bool tp, bool gq, std::ostream*) const {
    thread.unconstrained = Input(x.data(), m.size());
    m.model->write_array(rng, thread.unconstrained, thread.constrained, tp, gq, &thread.messages);
    out.assign(thread.constrained.begin(), thread.constrained.end());
  }
};

void initialize(const Density& density, const stan::io::var_context& given, stan::rng_t& rng,
                double radius, int max_tries, double* out) {
  const bs_model& m = density.m;
  InitModel model{m, density.thread};
  std::vector<std::string> names;
  model.get_param_names(names, false, false);
  const auto is_given = [&](const std::string& name) { return given.contains_r(name); };
  const bool any_given = std::any_of(names.begin(), names.end(), is_given);
  const bool all_given = std::all_of(names.begin(), names.end(), is_given);
  // Nothing is left to chance, so a second try would be the first one again.
  if (all_given || radius == 0) max_tries = 1;

  std::string reason;
  for (int tries = 0; tries < max_tries; ++tries) {
    try {
      const stan::io::random_var_context random(model, rng, radius, radius == 0);
      if (any_given) {
        const stan::io::chained_var_context both(given, random);
        Doubles point;
        m.model->transform_inits(both, point, &density.thread.messages);
        Output(out, m.size()) = point;
      } else {
        const std::vector<double> point = random.get_unconstrained();
        std::copy(point.begin(), point.end(), out);
      }
      const double value = density.value(out);
      if (std::isfinite(value)) return;
      reason = "the log density is " + std::to_string(value);
    } catch (const std::domain_error& e) {  // what reject() and out-of-domain arguments throw
      reason = e.what();
    }
  }
  throw std::domain_error("Initialization failed after " + std::to_string(max_tries)
                          + " attempts; the last one: " + reason);
}

}  // namespace

// ---- the C interface -----------------------------------------------------------------------

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
  guarded(error_msg, [&](Thread&) { result = new bs_rng{stan::services::util::create_rng(seed, 0)}; });
  return result;
}

EXPORT void bs_rng_destruct(bs_rng* rng) { delete rng; }

EXPORT int bs_set_print_callback(Callback callback, char** error_msg) {
  return guarded(error_msg, [&](Thread&) { printer.redirect(callback); });
}

}  // extern "C"
