// document.hpp: writes a tree of values as JSON or as YAML, in the layout of Slurm's --json and
// --yaml. Values are written as they come: a long queue is never held as a tree.
//
// Inside a map every value has a key; inside a list none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::view {

// CompactJson: without blanks and line ends.
enum class DocumentKind : std::uint8_t { Json, CompactJson, Yaml };

// How YAML is written.
struct YamlLayout {
    bool tags = true;   // Every value says what kind it is.
    bool folds = true;  // Long texts are broken into lines.
};

// A number that may be missing or without limit: {"set":..., "infinite":..., "number":...}.
struct Number {
    bool set = false, infinite = false;
    std::uint64_t number = 0;

    static Number of(std::uint64_t value) { return {true, false, value}; }
    static Number unlimited() { return {false, true, 0}; }
    template <class Value>
    static Number of(const std::optional<Value>& value) {
        return value ? of(static_cast<std::uint64_t>(*value)) : Number{};
    }
};

class Document {
  public:
    using Sink = std::function<void(std::string_view)>;
    // Opens the map that all else stands in. Text goes to the sink in large pieces.
    Document(DocumentKind kind, Sink sink, YamlLayout layout = {});

    void begin_map(std::string_view key = {}) { begin(key, true); }
    void begin_list(std::string_view key = {}) { begin(key, false); }
    void end();

    void text(std::string_view key, std::string_view value);
    void integer(std::string_view key, std::int64_t value);
    void real(std::string_view key, double value);
    void boolean(std::string_view key, bool value);
    void null(std::string_view key);
    void number(std::string_view key, const Number& value);
    void real_number(std::string_view key, const std::optional<double>& value);
    void texts(std::string_view key, const std::vector<std::string>& values);

    // Closes what is open and hands over the rest.
    void finish();

  private:
    struct Frame {
        bool is_map;
        bool is_empty = true;
        std::size_t indent;  // Of what stands in it.
    };

    void begin(std::string_view key, bool is_map);
    void open_item(std::string_view key, std::string_view yaml_tag);
    void scalar(std::string_view key, std::string_view yaml_tag, std::string_view value);
    void append_json_text(std::string_view value);
    void append_yaml_text(std::string_view value);
    void append_tag(std::string_view tag);
    void flush_if_large();

    void new_line(std::size_t indent);

    bool yaml_, compact_;
    YamlLayout layout_;
    Sink sink_;
    std::string out_;
    std::vector<Frame> frames_;
};

}  // namespace switchyard::view
