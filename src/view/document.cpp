#include "view/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/visible.hpp"

namespace switchyard::view {
namespace {

constexpr std::size_t kFlushBytes = 1u << 18;
constexpr std::size_t kYamlWidth = 80;  // A plain text is folded at the first blank beyond it.
constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr char kUpperControlLead = '\xc2';  // Of U+0080 to U+009f, which terminals obey, too.
bool is_plain_json(char c) {
    return !is_control_character(c) && c != '"' && c != '\\' && c != '/' && c != kUpperControlLead;
}
bool is_upper_control(char c) {
    return static_cast<unsigned char>(c) >= 0x80 && static_cast<unsigned char>(c) < 0xa0;
}

// Whether a text can stand in YAML without quotes, given that its tag says it is a text.
bool is_plain_yaml(std::string_view text) {
    if (text.empty()) return true;
    if (text.front() == ' ' || text.back() == ' ') return false;
    if (text.starts_with("---") || text.starts_with("...")) return false;
    constexpr std::string_view kNeverFirst = "#,[]{}&*!|>'\"%@`";
    if (kNeverFirst.find(text.front()) != std::string_view::npos) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool ends_word = i + 1 == text.size() || text[i + 1] == ' ';
        if (i == 0 && (text[i] == '-' || text[i] == '?') && ends_word) return false;
        if (text[i] == ':' && ends_word) return false;
        if (text[i] == '#' && text[i - 1] == ' ') return false;
    }
    return true;
}

bool needs_escapes(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        return is_control_character(c) || static_cast<unsigned char>(c) >= 0x80;
    });
}

}  // namespace

Document::Document(DocumentKind kind, Sink sink, YamlLayout layout)
    : yaml_(kind == DocumentKind::Yaml),
      compact_(kind == DocumentKind::CompactJson),
      layout_(layout),
      sink_(std::move(sink)) {
    out_ = yaml_ ? "%YAML 1.1\n---" : "{";
    if (yaml_) append_tag("!!map");
    frames_.push_back({.is_map = true, .indent = yaml_ ? 0u : 2u});
}

// The line of the next value, up to where the value itself begins.
void Document::open_item(std::string_view key, std::string_view yaml_tag) {
    Frame& frame = frames_.back();
    if (!yaml_ && !frame.is_empty) out_ += ',';
    // Without a tag the first key of a map stands beside the dash of its list.
    const bool beside_dash = yaml_ && !layout_.tags && frame.is_map && frame.is_empty &&
                             frames_.size() > 1 && !frames_[frames_.size() - 2].is_map;
    frame.is_empty = false;
    if (beside_dash) {
        out_ += ' ';
    } else {
        new_line(frame.indent);
    }
    if (yaml_) {
        if (frame.is_map) {
            if (layout_.tags) out_ += "!!str ";
            out_ += key;
            out_ += ':';
        } else {
            out_ += '-';
        }
        append_tag(yaml_tag);
    } else if (frame.is_map) {
        out_ += '"';
        out_ += key;
        out_ += compact_ ? "\":" : "\": ";
    }
}

void Document::append_tag(std::string_view tag) {
    if (!layout_.tags) return;
    out_ += ' ';
    out_ += tag;
}

void Document::new_line(std::size_t indent) {
    if (compact_) return;
    out_ += '\n';
    out_.append(indent, ' ');
}

void Document::begin(std::string_view key, bool is_map) {
    const Frame outer = frames_.back();
    open_item(key, is_map ? "!!map" : "!!seq");
    std::size_t indent = outer.indent + 2;
    if (yaml_) {
        // The dashes of a list stand below its key.
        if (outer.is_map && !is_map) indent = outer.indent;
    } else {
        out_ += is_map ? '{' : '[';
    }
    frames_.push_back({.is_map = is_map, .indent = indent});
}

void Document::end() {
    const Frame closed = frames_.back();
    frames_.pop_back();
    if (yaml_) {
        if (closed.is_empty) out_ += closed.is_map ? " {}" : " []";
    } else {
        new_line(closed.indent - 2);
        out_ += closed.is_map ? '}' : ']';
    }
    flush_if_large();
}

void Document::scalar(std::string_view key, std::string_view yaml_tag, std::string_view value) {
    open_item(key, yaml_tag);
    if (yaml_) out_ += ' ';
    out_ += value;
}

void Document::text(std::string_view key, std::string_view value) {
    open_item(key, "!!str");
    if (yaml_) {
        append_yaml_text(value);
    } else {
        append_json_text(value);
    }
}

void Document::integer(std::string_view key, std::int64_t value) {
    const fmt::format_int digits(value);
    scalar(key, "!!int", {digits.data(), digits.size()});
}

void Document::real(std::string_view key, double value) {
    std::string digits = yaml_ ? fmt::format("{:.6f}", value) : fmt::format("{}", value);
    if (digits.find_first_not_of("-0123456789") == std::string::npos) digits += ".0";
    scalar(key, "!!float", digits);
}

void Document::boolean(std::string_view key, bool value) {
    scalar(key, "!!bool", value ? "true" : "false");
}

void Document::null(std::string_view key) { scalar(key, "!!null", "null"); }

void Document::number(std::string_view key, const Number& value) {
    begin_map(key);
    boolean("set", value.set);
    boolean("infinite", value.infinite);
    integer("number", static_cast<std::int64_t>(value.number));
    end();
}

void Document::real_number(std::string_view key, const std::optional<double>& value) {
    begin_map(key);
    boolean("set", value.has_value());
    boolean("infinite", false);
    real("number", value.value_or(0));
    end();
}

void Document::texts(std::string_view key, const std::vector<std::string>& values) {
    begin_list(key);
    for (const std::string& value : values) text({}, value);
    end();
}

void Document::append_json_text(std::string_view value) {
    out_ += '"';
    while (!value.empty()) {
        const auto special = std::ranges::find_if_not(value, is_plain_json);
        const auto plain = static_cast<std::size_t>(special - value.begin());
        out_ += value.substr(0, plain);
        value.remove_prefix(plain);
        if (value.empty()) break;
        char c = value.front();
        value.remove_prefix(1);
        if (c == kUpperControlLead) {
            if (value.empty() || !is_upper_control(value.front())) {
                out_ += c;
                continue;
            }
            c = value.front();
            value.remove_prefix(1);
        }
        constexpr std::string_view kShort = "\b\f\n\r\t\"\\/", kNames = "bfnrt\"\\/";
        out_ += '\\';
        if (const auto known = kShort.find(c); known != std::string_view::npos) {
            out_ += kNames[known];
        } else {
            out_ += "u00";
            out_ += kHexDigits[static_cast<unsigned char>(c) >> 4];
            out_ += kHexDigits[static_cast<unsigned char>(c) & 15];
        }
    }
    out_ += '"';
}

void Document::append_yaml_text(std::string_view value) {
    if (value.empty()) return;
    out_ += ' ';
    if (needs_escapes(value)) {
        // JSON's quoted text is YAML's.
        append_json_text(value);
        return;
    }
    const bool plain = is_plain_yaml(value);
    if (!plain) out_ += '\'';
    std::size_t column = out_.size() - (out_.rfind('\n') + 1);
    for (std::size_t i = 0; i < value.size(); ++i, ++column) {
        const bool single_blank = value[i] == ' ' && i > 0 && value[i - 1] != ' ' &&
                                  i + 1 < value.size() && value[i + 1] != ' ';
        if (single_blank && layout_.folds && column > kYamlWidth) {
            column = frames_.back().indent + 1;  // The loop counts the blank that became a line.
            out_ += '\n';
            out_.append(frames_.back().indent + 2, ' ');
            continue;
        }
        if (value[i] == '\'' && !plain) out_ += '\'';
        out_ += value[i];
    }
    if (!plain) out_ += '\'';
}

void Document::flush_if_large() {
    if (out_.size() < kFlushBytes) return;
    sink_(out_);
    out_.clear();
}

void Document::finish() {
    while (frames_.size() > 1) end();
    out_ += yaml_ ? "\n...\n\n" : compact_ ? "}\n" : "\n}\n";
    sink_(out_);
    out_.clear();
}

}  // namespace switchyard::view
