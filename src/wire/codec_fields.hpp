// codec_fields.hpp: fields that a table describes (model/job_fields.hpp), each between the struct
// and its message by the type of its value. As in codec_parts.hpp an optional value is a field with
// presence, and a value that equals its default is left out.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/job_fields.hpp"
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

// What protobuf makes for one field, as a type. Those that a kind of field does not have are never
// asked for.
#define SY_ACCESS(member, ...)                                                                   \
    struct member {                                                                              \
        static constexpr auto field_name() { return #member; }                                   \
        static bool is_set(const auto& message) { return message.has_##member(); }               \
        static decltype(auto) value_of(const auto& message) { return message.member(); }         \
        static void assign_to(auto& message, const auto& value) { message.set_##member(value); } \
        static auto* part_of(auto& message) { return message.mutable_##member(); }               \
    };

// In functions whose arguments are `from` and `to`, where `fields` has the accessors.
#define SY_WRITE(member, ...) write_field<fields::member>(from.member, *to);
#define SY_READ(member, ...) SY_CHECK(read_field<fields::member>(from, to.member));

// Both directions of one struct. It does not compile while a member is not in the table.
#define SY_CODEC(Type, FIELDS)                                         \
    namespace {                                                        \
    namespace of_##Type::fields {                                      \
        FIELDS(SY_ACCESS)                                              \
    }                                                                  \
    [[maybe_unused]] void all_are_named(const model::Type& value) {    \
        [[maybe_unused]] const auto& [SY_FIELD_NAMES(FIELDS)] = value; \
    }                                                                  \
    }                                                                  \
    void encode(const model::Type& from, Type* to) {                   \
        namespace fields = of_##Type::fields;                          \
        FIELDS(SY_WRITE)                                               \
    }                                                                  \
    Status decode_into(const Type& from, model::Type& to) {            \
        namespace fields = of_##Type::fields;                          \
        FIELDS(SY_READ)                                                \
        return {};                                                     \
    }

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

// The last enumerator that is known here.
constexpr auto last_of(model::JobKind) { return model::JobKind::Allocation; }
constexpr auto last_of(model::Exclusive) { return model::Exclusive::Topo; }
constexpr auto last_of(model::OpenMode) { return model::OpenMode::Append; }
constexpr auto last_of(model::JobState) { return model::kJobStateLast; }
constexpr auto last_of(model::Reason) { return model::kReasonLast; }
constexpr auto last_of(model::Hold) { return model::Hold::Admin; }
constexpr auto last_of(model::Completing::Next) { return model::Completing::Next::SpecialExit; }

// All of these are always inlined: a field that cannot fail is then not asked whether it did.

// --- values that travel as one number ---
template <class T>
concept Plain = std::same_as<T, bool> || std::same_as<T, std::int32_t> ||
                std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;
template <class T>
concept Counted = std::same_as<T, JobId> || std::same_as<T, Attempt> || std::same_as<T, model::MiB>;
template <class T>
concept Small = std::same_as<T, std::uint16_t>;
template <class T>
concept Number = Plain<T> || Counted<T> || Small<T> || std::is_enum_v<T> ||
                 std::same_as<T, Instant> || std::same_as<T, Seconds>;

template <Number T>
[[gnu::always_inline]] inline auto as_number(const T& value) {
    if constexpr (Counted<T>) {
        return value.value;
    } else if constexpr (std::is_enum_v<T>) {
        return number_of(value);
    } else if constexpr (std::same_as<T, Instant>) {
        return millis_of(value);
    } else if constexpr (std::same_as<T, Seconds>) {
        return std::int64_t{value.count()};
    } else if constexpr (Small<T>) {
        return std::uint32_t{value};
    } else {
        return value;
    }
}

template <Number T>
[[gnu::always_inline]] inline Status read_number(auto number, std::string_view name, T& to) {
    if constexpr (Counted<T>) {
        to = T{number};
    } else if constexpr (std::is_enum_v<T>) {
        return read_enum(number, last_of(T{}), name, to);
    } else if constexpr (std::same_as<T, Instant>) {
        to = instant_of(number);
    } else if constexpr (std::same_as<T, Seconds>) {
        to = Seconds{number};
    } else if constexpr (Small<T>) {
        return read_small(number, name, to);
    } else {
        to = number;
    }
    return {};
}

// --- any value ---
// One that is there, and so is written even if it equals its default.
template <class Access, class Value, class Message>
[[gnu::always_inline]] inline void write_value(const Value& from, Message& to) {
    if constexpr (Number<Value>) {
        Access::assign_to(to, as_number(from));
    } else if constexpr (std::same_as<Value, std::string>) {
        Access::assign_to(to, from);
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        put_strings(from, Access::part_of(to)->mutable_values());
    } else if constexpr (is_list<Value>) {
        encode_all(from, Access::part_of(to)->mutable_values());
    } else {
        encode(from, Access::part_of(to));
    }
}

template <class Access, class Value, class Message>
[[gnu::always_inline]] inline void write_field(const Value& from, Message& to) {
    if constexpr (is_optional<Value>) {
        if (from) write_value<Access>(*from, to);
    } else if constexpr (Number<Value>) {
        Access::assign_to(to, as_number(from));
    } else if constexpr (std::same_as<Value, std::string>) {
        if (!from.empty()) Access::assign_to(to, from);
    } else if constexpr (std::same_as<Value, model::IndexSet>) {
        if (!from.empty()) Access::assign_to(to, to_string(from));
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        put_strings(from, Access::part_of(to));
    } else if constexpr (is_list<Value>) {
        encode_all(from, Access::part_of(to));
    } else {
        if (!is_default(from)) encode(from, Access::part_of(to));
    }
}

template <class Access, class Value, class Message>
[[gnu::always_inline]] inline Status read_value(const Message& from, Value& to) {
    if constexpr (Number<Value>) {
        return read_number(Access::value_of(from), Access::field_name(), to);
    } else if constexpr (std::same_as<Value, std::string>) {
        to = Access::value_of(from);
        return {};
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        to = strings_of(Access::value_of(from).values());
        return {};
    } else if constexpr (is_list<Value>) {
        return decode_all(Access::value_of(from).values(), to);
    } else {
        return decode_into(Access::value_of(from), to);
    }
}

template <class Access, class Value, class Message>
[[gnu::always_inline]] inline Status read_field(const Message& from, Value& to) {
    if constexpr (is_optional<Value>) {
        if (Access::is_set(from)) return read_value<Access>(from, to.emplace());
    } else if constexpr (Number<Value>) {
        return read_number(Access::value_of(from), Access::field_name(), to);
    } else if constexpr (std::same_as<Value, std::string>) {
        to = Access::value_of(from);
    } else if constexpr (std::same_as<Value, model::IndexSet>) {
        return read_set(Access::value_of(from), to);
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        to = strings_of(Access::value_of(from));
    } else if constexpr (is_list<Value>) {
        return decode_all(Access::value_of(from), to);
    } else {
        if (Access::is_set(from)) return decode_into(Access::value_of(from), to);
    }
    return {};
}

}  // namespace switchyard::wire
