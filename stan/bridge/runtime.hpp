// What a call into the model runs on: its thread's autodiff tape, printed text, errors.
#pragma once

#include <stan/model/model_base.hpp>

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#ifndef STAN_THREADS
#error "a model is called from several threads at once: compile with -DSTAN_THREADS"
#endif

// This library, as the C++ ABI names it.
extern void* __dso_handle __attribute__((visibility("hidden")));

namespace bridge {

using stan::math::ChainableStack;
using stan::math::var;
using Doubles = Eigen::VectorXd;
using Vars = Eigen::Matrix<var, Eigen::Dynamic, 1>;
using Callback = void (*)(const char* data, size_t size);

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
  static std::string& line();

  std::mutex mutex_;
  Callback callback_ = nullptr;
};

inline Printer printer;

struct Thread {
  std::optional<ChainableStack> tape;
  std::ostream messages{&printer};
  stan::rng_t idle_rng;
  Doubles unconstrained, constrained;
  Vars vars;
  std::string line;
};

// All that a thread keeps, behind one pointer. Libraries built with -ftls-model=initial-exec share some 1600 bytes of
// thread-local room in a process: at 16 bytes for Stan's tape and 8 for this pointer, more than 60 models fit. An owning
// pointer would take 8 more for the guard of its destructor, which is registered by hand instead.
inline thread_local Thread* owned = nullptr;

inline Thread& owned_by_thread() {
  if (!owned) {
    auto made = std::make_unique<Thread>();
    auto drop = [](void*) { delete std::exchange(owned, nullptr); };
    abi::__cxa_thread_atexit(drop, nullptr, &__dso_handle);
    owned = made.release();
  }
  return *owned;
}

inline std::string& Printer::line() { return owned_by_thread().line; }

inline Thread& this_thread() {
  Thread& thread = owned_by_thread();
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

inline void set_error(char** error_msg, const char* text) {
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

}  // namespace bridge
