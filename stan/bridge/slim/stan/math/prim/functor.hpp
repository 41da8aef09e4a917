// Takes the place of Stan's file of this name: leaves out solvers, integrators and map_rect, which few programs use and
// which are a quarter of what a compiler reads. Programs that use one are compiled with Stan's own file.
#ifndef STAN_MATH_PRIM_FUNCTOR_HPP
#define STAN_MATH_PRIM_FUNCTOR_HPP

#include <stan/math/prim/functor/apply.hpp>
#include <stan/math/prim/functor/apply_scalar_unary.hpp>
#include <stan/math/prim/functor/apply_scalar_binary.hpp>
#include <stan/math/prim/functor/apply_scalar_ternary.hpp>
#include <stan/math/prim/functor/apply_vector_unary.hpp>
#include <stan/math/prim/functor/for_each.hpp>
#include <stan/math/prim/functor/operands_and_partials.hpp>
#include <stan/math/prim/functor/partials_propagator.hpp>
#include <stan/math/prim/functor/reduce_sum.hpp>
#include <stan/math/prim/functor/reduce_sum_static.hpp>

#endif
