// result.hpp: the one way a function reports a failure it expects.
//
// What the world can do wrong comes back as a Result or a Status; what only a bug can do wrong
// trips SY_ASSERT (base/assert.hpp). Nothing in this tree throws.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "base/errc.hpp"

namespace switchyard {

struct Error {
    Errc code;
    std::string message;  // For a person: names the thing that failed; no full stop.

    bool operator==(const Error&) const = default;
};

// What a failing function returns; converts to any Result.
struct [[nodiscard]] Failure {
    Error error;
};

inline Failure fail(Errc code, std::string message) { return {Error{code, std::move(message)}}; }
// A failure whose text is the standard one of its code (see errc_text).
inline Failure fail(Errc code) { return {Error{code, std::string(errc_text(code))}}; }

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}
    Result(Failure failure) : value_(std::in_place_index<1>, std::move(failure.error)) {}

    explicit operator bool() const { return value_.index() == 0; }
    T& operator*() & {
        SY_ASSERT(value_.index() == 0);
        return std::get<0>(value_);
    }
    const T& operator*() const& {
        SY_ASSERT(value_.index() == 0);
        return std::get<0>(value_);
    }
    T&& operator*() && {
        SY_ASSERT(value_.index() == 0);
        return std::get<0>(std::move(value_));
    }
    T* operator->() { return &**this; }
    const T* operator->() const { return &**this; }
    const Error& error() const {
        SY_ASSERT(value_.index() == 1);
        return std::get<1>(value_);
    }

  private:
    std::variant<T, Error> value_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Failure failure) : error_(std::move(failure.error)) {}

    explicit operator bool() const { return !error_; }
    const Error& error() const {
        SY_ASSERT(error_.has_value());
        return *error_;
    }

  private:
    std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace switchyard

#define SY_CONCAT_(a, b) a##b
#define SY_CONCAT(a, b) SY_CONCAT_(a, b)
#define SY_TRY_(ret, name, decl, ...)                     \
    auto name = (__VA_ARGS__);                            \
    if (!name) ret ::switchyard::Failure{(name).error()}; \
    decl = *std::move(name)
#define SY_CHECK_(ret, name, ...)                                     \
    if (auto name = (__VA_ARGS__); !name) ret ::switchyard::Failure { \
            (name).error()                                            \
        }

// SY_TRY(Hostlist hosts, parse_hostlist(text)): declares `hosts`, or returns the error.
#define SY_TRY(decl, ...) SY_TRY_(return, SY_CONCAT(try_, __LINE__), decl, __VA_ARGS__)
#define SY_CO_TRY(decl, ...) SY_TRY_(co_return, SY_CONCAT(try_, __LINE__), decl, __VA_ARGS__)
// SY_CHECK(write_file(path)): for a Status; returns its error.
#define SY_CHECK(...) SY_CHECK_(return, SY_CONCAT(check_, __LINE__), __VA_ARGS__)
#define SY_CO_CHECK(...) SY_CHECK_(co_return, SY_CONCAT(check_, __LINE__), __VA_ARGS__)
