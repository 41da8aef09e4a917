// Takes the place of Stan's file of this name: forwards only the calls that bridge.cpp makes.
//
// Stan's own instantiates the log density 16 times (double and var, Eigen and std::vector, four
// flag pairs); 6 are ever called, and every other one is compile time a user waits for.
#ifndef STAN_MODEL_MODEL_BASE_CRTP_HPP
#define STAN_MODEL_MODEL_BASE_CRTP_HPP

#include <stan/model/model_base.hpp>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace stan {
namespace model {

template <typename M>
class model_base_crtp : public model_base {
  using doubles = Eigen::VectorXd;
  using vars = Eigen::Matrix<math::var, -1, 1>;

  const M& self() const { return static_cast<const M&>(*this); }

  [[noreturn]] static void unused() {
    throw std::logic_error("this entry point of the model is not compiled in");
  }

 public:
  explicit model_base_crtp(size_t num_params_r) : model_base(num_params_r) {}

  double log_prob(doubles& x, std::ostream* out) const override {
    return self().template log_prob<false, false>(x, out);
  }
  double log_prob_jacobian(doubles& x, std::ostream* out) const override {
    return self().template log_prob<false, true>(x, out);
  }
  math::var log_prob(vars& x, std::ostream* out) const override {
    return self().template log_prob<false, false>(x, out);
  }
  math::var log_prob_jacobian(vars& x, std::ostream* out) const override {
    return self().template log_prob<false, true>(x, out);
  }
  math::var log_prob_propto(vars& x, std::ostream* out) const override {
    return self().template log_prob<true, false>(x, out);
  }
  math::var log_prob_propto_jacobian(vars& x, std::ostream* out) const override {
    return self().template log_prob<true, true>(x, out);
  }

  void write_array(rng_t& rng, doubles& x, doubles& out, bool tp, bool gq,
                   std::ostream* msgs) const override {
    self().write_array(rng, x, out, tp, gq, msgs);
  }
  void unconstrain_array(const doubles& x, doubles& out, std::ostream* msgs) const override {
    self().unconstrain_array(x, out, msgs);
  }
  void transform_inits(const io::var_context& context, doubles& out,
                       std::ostream* msgs) const override {
    self().transform_inits(context, out, msgs);
  }

  // With double arguments "up to a constant" drops every term, so nobody can want these two.
  double log_prob_propto(doubles&, std::ostream*) const override { unused(); }
  double log_prob_propto_jacobian(doubles&, std::ostream*) const override { unused(); }

  using ints = std::vector<int>;
  using double_list = std::vector<double>;
  using var_list = std::vector<math::var>;
  double log_prob(double_list&, ints&, std::ostream*) const override { unused(); }
  double log_prob_jacobian(double_list&, ints&, std::ostream*) const override { unused(); }
  double log_prob_propto(double_list&, ints&, std::ostream*) const override { unused(); }
  double log_prob_propto_jacobian(double_list&, ints&, std::ostream*) const override { unused(); }
  math::var log_prob(var_list&, ints&, std::ostream*) const override { unused(); }
  math::var log_prob_jacobian(var_list&, ints&, std::ostream*) const override { unused(); }
  math::var log_prob_propto(var_list&, ints&, std::ostream*) const override { unused(); }
  math::var log_prob_propto_jacobian(var_list&, ints&, std::ostream*) const override { unused(); }
  void write_array(rng_t&, double_list&, ints&, double_list&, bool, bool,
                   std::ostream*) const override { unused(); }
  void unconstrain_array(const double_list&, double_list&, std::ostream*) const override {
    unused();
  }
};

}  // namespace model
}  // namespace stan
#endif
