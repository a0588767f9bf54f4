// cell_text.hpp: room for a text that is looked at once. The cells of a long list are mostly texts
// that stand somewhere already, or short ones that need no memory of their own.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <iterator>
#include <string>
#include <string_view>

namespace switchyard::view {

class CellBuffer {
  public:
    // What each returns stays until the next is called.
    std::string_view number(std::integral auto value) {
        const auto end = std::to_chars(std::begin(digits_), std::end(digits_), value).ptr;
        return {digits_, end};
    }
    std::string_view keep(std::string_view text) {
        bytes_.clear();
        bytes_.append(text.data(), text.data() + text.size());
        return {bytes_.data(), bytes_.size()};
    }
    std::string_view in_parentheses(std::string_view text) {
        bytes_.clear();
        bytes_.push_back('(');
        bytes_.append(text.data(), text.data() + text.size());
        bytes_.push_back(')');
        return {bytes_.data(), bytes_.size()};
    }

  private:
    char digits_[24];
    fmt::basic_memory_buffer<char, 128> bytes_;
};

// How the text of a row's field is come by: made as a string, or shown where it stands, if need be
// in the room that is given.
template <class Row>
class CellText {
  public:
    using Make = std::string (*)(const Row&);
    using Show = std::string_view (*)(const Row&, CellBuffer&);

    constexpr CellText(std::convertible_to<Make> auto make) : make_(make) {}
    constexpr CellText(std::convertible_to<Show> auto show) : show_(show) {}

    std::string operator()(const Row& row) const {
        CellBuffer room;
        return look(row, room, [](std::string_view text) { return std::string(text); });
    }
    // What `use` makes of the text.
    template <class Use>
    auto look(const Row& row, CellBuffer& room, Use use) const {
        return show_ != nullptr ? use(show_(row, room)) : use(std::string_view(make_(row)));
    }

  private:
    Make make_ = nullptr;
    Show show_ = nullptr;
};

}  // namespace switchyard::view
