// Errors as values. A fault in a file or in what a caller asked for travels as an Error; a fault in
// this program is a Bug (base/check.h).
//
// Expected<T> stands in for std::expected (C++23). TRY and TRY_SET hand an Error to the caller;
// Problems gathers many faults into one Error, so that a user sees all of them at once.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace transcribe {

enum class Code {
    invalid_argument,  // the caller asked for what cannot be
    not_found,         // a file or a model's name does not exist
    bad_model,         // a model file is damaged, foreign or contradicts itself
    bad_audio,         // a recording cannot be read
    unsupported,       // well formed, but not what this program can do
    out_of_memory,
    backend,  // the compute device refused or failed
    aborted,  // cancelled by the caller
    io,       // writing failed, or the network did
    internal,
};

struct Error {
    Code code = Code::internal;
    std::string what;  // one sentence with the numbers and the remedy
};

template <class T = std::monostate>
class [[nodiscard]] Expected {
  public:
    Expected() requires std::is_default_constructible_v<T> : v_(T{}) {}
    Expected(T value) : v_(std::in_place_index<0>, std::move(value)) {}
    Expected(Error error) : v_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return v_.index() == 0; }
    T& operator*() & { return std::get<0>(v_); }
    const T& operator*() const& { return std::get<0>(v_); }
    T&& operator*() && { return std::get<0>(std::move(v_)); }
    T* operator->() { return &std::get<0>(v_); }
    const T* operator->() const { return &std::get<0>(v_); }
    const Error& error() const& { return std::get<1>(v_); }
    Error&& error() && { return std::get<1>(std::move(v_)); }

  private:
    std::variant<T, Error> v_;
};
using Status = Expected<>;

#define TRANSCRIBE_CAT_(a, b) a##b
#define TRANSCRIBE_CAT(a, b) TRANSCRIBE_CAT_(a, b)
#define TRANSCRIBE_TRY_SET_(tmp, decl, expr) \
    auto tmp = (expr);                       \
    if (!tmp) return std::move(tmp).error(); \
    decl = *std::move(tmp)

// Returns the error of `expr` to the caller, or goes on.
#define TRY(expr)                                                                        \
    do {                                                                                 \
        if (auto try_status = (expr); !try_status) return std::move(try_status).error(); \
    } while (0)
// The same, and binds the value: TRY_SET(auto file, open(path));
#define TRY_SET(decl, expr) TRANSCRIBE_TRY_SET_(TRANSCRIBE_CAT(try_value_, __LINE__), decl, expr)

// Gathers faults while reading goes on; done() is one Error that lists them all.
class Problems {
  public:
    void add(std::string fault) { faults_.push_back(std::move(fault)); }
    bool empty() const { return faults_.empty(); }
    Status done(Code code, const std::string& where) const {
        if (faults_.empty()) return {};
        constexpr size_t n_shown_max = 12;
        std::string what = where + ": ";
        for (size_t i = 0; i < faults_.size() && i < n_shown_max; i++) {
            what += (i ? "; " : "") + faults_[i];
        }
        if (faults_.size() > n_shown_max) {
            what += "; and " + std::to_string(faults_.size() - n_shown_max) + " more";
        }
        return Error{code, what};
    }

  private:
    std::vector<std::string> faults_;
};

}  // namespace transcribe
