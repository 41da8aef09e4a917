// A model with its data: names, densities and their derivatives, initial points.
#pragma once

#include "runtime.hpp"

#include <stan/io/chained_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/io/random_var_context.hpp>
#include <stan/version.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

// Defined by the C++ that stanc generates.
stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed,
                                   std::ostream* messages);

namespace bridge {

using stan::model::model_base;
using Input = Eigen::Map<const Doubles>;
using Output = Eigen::Map<Doubles>;

// ---- data ----------------------------------------------------------------------------------

// Reads text where it lies: data can be large, and a stringstream would copy it.
struct TextBuffer : std::streambuf {
  explicit TextBuffer(const char* text) {
    char* begin = const_cast<char*>(text);
    setg(begin, begin, begin + std::strlen(text));
  }
};

inline stan::json::json_data parse_json(const char* text) {
  TextBuffer buffer(text && *text ? text : "{}");
  std::istream in(&buffer);
  return stan::json::json_data(in);
}

inline bool is_json_path(const char* text) {
  const std::string ending = ".json";
  const size_t size = text ? std::strlen(text) : 0;
  return size >= ending.size() && ending == text + size - ending.size();
}

inline stan::json::json_data read_data(const char* data) {
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

inline std::string describe(const model_base& model) {
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

}  // namespace bridge

struct bs_rng {
  stan::rng_t engine;
};

struct bs_model {
  std::unique_ptr<const stan::model::model_base> model;
  std::string name = model->model_name();
  std::string info = bridge::describe(*model);
  // Filled on first use: the generated quantities alone can have a great many names.
  mutable bridge::Names constrained[2][2];
  mutable bridge::Names unconstrained;

  explicit bs_model(stan::model::model_base& built) : model(&built) {}

  Eigen::Index size() const { return static_cast<Eigen::Index>(model->num_params_r()); }

  const bridge::Names& constrained_names(bool tp, bool gq) const {
    bridge::Names& names = constrained[tp][gq];
    std::call_once(names.once, [&] {
      std::vector<std::string> list;
      model->constrained_param_names(list, tp, gq);
      names.fill(list);
    });
    return names;
  }

  const bridge::Names& unconstrained_names() const {
    std::call_once(unconstrained.once, [&] {
      std::vector<std::string> list;
      model->unconstrained_param_names(list, false, false);
      unconstrained.fill(list);
    });
    return unconstrained;
  }
};

namespace bridge {

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
inline double difference_step(double x) {
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

inline void initialize(const Density& density, const stan::io::var_context& given, stan::rng_t& rng,
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

}  // namespace bridge
