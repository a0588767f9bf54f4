#include "pmi/simple_wire.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace switchyard::pmi {
namespace {

constexpr std::size_t kLengthDigits = 6;
constexpr std::size_t kMessageBytesMax = 1u << 20;
constexpr std::string_view kSpawn = "mcmd=";  // A command of several lines, up to this one:
constexpr std::string_view kSpawnEnd = "endcmd\n";

// The value of these is all that is left of the line.
bool takes_rest(std::string_view name) { return name == "value" || name == "msg"; }

Words split_line(std::string_view line) {
    Words words;
    while (!(line = trim(line)).empty()) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) break;
        const std::string_view name = line.substr(0, equals);
        line.remove_prefix(equals + 1);
        const std::size_t end =
            takes_rest(name) ? line.size() : std::min(line.find(' '), line.size());
        words.pairs.emplace_back(name, line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

Words split_body(std::string_view body) {
    Words words;
    std::string name, value;
    bool in_value = false;
    for (std::size_t i = 0; i < body.size(); ++i) {
        std::string& current = in_value ? value : name;
        if (body[i] == ';' && i + 1 < body.size() && body[i + 1] == ';') {
            current += ';';
            ++i;
        } else if (body[i] == ';') {
            if (!name.empty()) words.pairs.emplace_back(std::move(name), std::move(value));
            name.clear();
            value.clear();
            in_value = false;
        } else if (body[i] == '=' && !in_value) {
            in_value = true;
        } else {
            current += body[i];
        }
    }
    return words;
}

Result<std::optional<Words>> take_line(std::string& bytes) {
    const bool spawn = bytes.starts_with(kSpawn);
    const std::size_t end = spawn ? bytes.find(kSpawnEnd) : bytes.find('\n');
    if (end == std::string::npos) {
        if (bytes.size() > kMessageBytesMax) {
            return fail(Errc::InvalidArgument, "a PMI message without an end");
        }
        return std::optional<Words>();
    }
    Words words =
        spawn ? Words{{{"cmd", "spawn"}}} : split_line(std::string_view(bytes).substr(0, end));
    bytes.erase(0, end + (spawn ? kSpawnEnd.size() : 1));
    return std::optional(std::move(words));
}

}  // namespace

std::string_view Words::get(std::string_view name) const {
    for (const auto& [key, value] : pairs) {
        if (key == name) return value;
    }
    return {};
}

Result<std::optional<Words>> take_words(std::string& bytes, Dialect dialect) {
    if (dialect == Dialect::Pmi1) return take_line(bytes);
    if (bytes.size() < kLengthDigits) return std::optional<Words>();
    const auto size = parse_uint(trim(std::string_view(bytes).substr(0, kLengthDigits)));
    if (!size || *size > kMessageBytesMax) {
        return fail(Errc::InvalidArgument, "a PMI-2 message without its length");
    }
    if (bytes.size() < kLengthDigits + *size) return std::optional<Words>();
    Words words = split_body(std::string_view(bytes).substr(kLengthDigits, *size));
    bytes.erase(0, kLengthDigits + *size);
    return std::optional(std::move(words));
}

std::string format_words(const Words& words, Dialect dialect) {
    std::string text;
    for (const auto& [name, value] : words.pairs) {
        if (dialect == Dialect::Pmi1) {
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
            continue;
        }
        text += name + "=";
        for (const char c : value) text += c == ';' ? std::string(";;") : std::string(1, c);
        text += ';';
    }
    if (dialect == Dialect::Pmi1) return text + "\n";
    return fmt::format("{:6}{}", text.size(), text);
}

}  // namespace switchyard::pmi
