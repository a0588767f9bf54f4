// documents.cpp: JSON and YAML of hostile texts: whatever a name holds, the document is one, and
// the text can be had back from it.
#include <optional>
#include <string>

#include "fuzz/fuzz.hpp"
#include "view/document.hpp"

namespace switchyard {
namespace {

using view::Document;
using view::DocumentKind;

// Reads JSON strictly: what it does not understand is no JSON.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool document() { return value() && blanks() && rest_.empty(); }
    // The last value that was a text.
    const std::string& last_text() const { return text_; }

  private:
    bool blanks() {
        while (!rest_.empty() && std::string_view(" \n\t\r").contains(rest_.front()))
            rest_.remove_prefix(1);
        return true;
    }
    bool take(std::string_view word) {
        blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool value() {
        if (take("{")) return members("}", true);
        if (take("[")) return members("]", false);
        if (take("\"")) return text();
        if (take("true") || take("false") || take("null")) return true;
        return number();
    }
    bool members(std::string_view end, bool keys) {
        if (take(end)) return true;
        do {
            if (keys && !(take("\"") && text() && take(":"))) return false;
            if (!value()) return false;
        } while (take(","));
        return take(end);
    }
    bool number() {
        const std::size_t end = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
        rest_.remove_prefix(end);
        return end > 0;
    }
    bool text() {
        text_.clear();
        while (!rest_.empty()) {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c == '"') return true;
            if (c >= 0 && c < 0x20) return false;
            if (c != '\\') {
                text_ += c;
            } else if (!escape()) {
                return false;
            }
        }
        return false;
    }
    bool escape() {
        if (rest_.empty()) return false;
        const char c = rest_.front();
        rest_.remove_prefix(1);
        constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
        if (const std::size_t at = kNames.find(c); at != kNames.npos) {
            text_ += kMeant[at];
            return true;
        }
        if (c != 'u' || rest_.size() < 4) return false;
        const std::string digits(rest_.substr(0, 4));
        rest_.remove_prefix(4);
        if (digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos) return false;
        const unsigned long code = std::stoul(digits, nullptr, 16);
        if (code < 0x80) {
            text_ += static_cast<char>(code);
        } else if (code < 0x800) {
            text_ += static_cast<char>(0xc0 | code >> 6);
            text_ += static_cast<char>(0x80 | (code & 0x3f));
        } else {
            text_ += static_cast<char>(0xe0 | code >> 12);
            text_ += static_cast<char>(0x80 | (code >> 6 & 0x3f));
            text_ += static_cast<char>(0x80 | (code & 0x3f));
        }
        return true;
    }

    std::string_view rest_;
    std::string text_;
};

std::string written(DocumentKind kind, view::YamlLayout layout, std::string_view text) {
    std::string out;
    Document document(kind, [&](std::string_view piece) { out += piece; }, layout);
    document.begin_list("jobs");
    document.begin_map();
    document.texts("names", {std::string(text), "plain"});
    document.number("limit", view::Number::unlimited());
    document.text("name", text);
    document.end();
    document.end();
    document.finish();
    return out;
}

// Lines of control characters would be lines of the document.
void must_be_harmless(std::string_view document, std::string_view shown) {
    for (const char c : document)
        fuzz::must(c == '\n' || !(c >= 0 && c < 0x20), "no control character stands in it", shown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    for (const DocumentKind kind : {DocumentKind::Json, DocumentKind::CompactJson}) {
        const std::string json = written(kind, {}, text);
        Reader reader(json);
        fuzz::must(reader.document(), "JSON is JSON", json);
        fuzz::must(reader.last_text() == text, "a text can be had back", json);
        must_be_harmless(json, json);
    }
    for (const bool tags : {false, true}) {
        for (const bool folds : {false, true}) {
            const std::string yaml =
                written(DocumentKind::Yaml, {.tags = tags, .folds = folds}, text);
            must_be_harmless(yaml, yaml);
        }
    }
    return 0;
}

}  // namespace switchyard
