#include "options/bind_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace switchyard::options {
namespace {

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto each) { return equals_ignoring_case(each, word); });
}

// "map_cpu=0,1" takes all the rest: "map_cpu:0,1", masks without their 0x.
std::string list_text(std::string_view rest, std::size_t mark) {
    const std::string_view name = rest.substr(0, mark);
    std::vector<std::string_view> pieces;
    for (std::string_view piece : split(rest.substr(mark + 1), ',')) {
        const bool is_mask = starts_with_ignoring_case(name, "mask");
        while (is_mask && starts_with_ignoring_case(piece, "0x")) piece.remove_prefix(2);
        pieces.push_back(piece);
    }
    return fmt::format("{}:{}", name, fmt::join(pieces, ","));
}

// The one spelling of a word that has several; nothing for those that only say "as ever".
std::string_view spelled(std::string_view word) {
    if (is_any(word, {"n", "no", "none", "nobind"})) return "none";
    if (is_any(word, {"socket", "sockets"})) return "sockets";
    if (is_any(word, {"core", "cores"})) return "cores";
    if (is_any(word, {"thread", "threads"})) return "threads";
    if (is_any(word, {"ldom", "ldoms"})) return "ldoms";
    if (is_any(word, {"p", "prefer"})) return "prefer";
    return word;
}

}  // namespace

std::string canonical_bind(std::string_view wish, std::string_view level) {
    bool verbose = false, asked = !level.empty();
    std::vector<std::string> words;
    for (std::string_view rest = wish; !rest.empty();) {
        const std::size_t mark = rest.find_first_of(",:=");
        if (mark != std::string_view::npos && rest[mark] != ',') {
            words.push_back(list_text(rest, mark));
            asked = true;
            break;
        }
        const std::string_view word = rest.substr(0, mark);
        rest = mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
        if (is_any(word, {"v", "verbose"})) verbose = true;
        if (is_any(word, {"q", "quiet"})) verbose = false;
        if (is_any(word, {"v", "verbose", "q", "quiet"})) continue;
        asked = true;
        if (!is_any(word, {"", "one_thread"})) words.emplace_back(spelled(word));
    }
    if (!asked && !verbose) return {};
    const bool has_level = std::ranges::any_of(words, [](const std::string& word) {
        return is_any(word, {"sockets", "cores", "threads", "ldoms"});
    });
    if (!level.empty() && !has_level) words.emplace(words.begin(), level);
    words.emplace(words.begin(), verbose ? "verbose" : "quiet");
    return fmt::to_string(fmt::join(words, ","));
}

}  // namespace switchyard::options
