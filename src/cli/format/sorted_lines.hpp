// sorted_lines.hpp: printed lines that wait for the order they come out in. A list of a hundred
// thousand jobs is held as text and keys, a tenth of what its records would take, in a few large
// pieces of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::cli::format {

class SortedLines {
  public:
    // `write` appends the line to the string it is given.
    template <class Write>
    void add(std::string_view key, Write write) {
        if (blocks_.empty() || blocks_.back().size() > kBlockBytes - kLineBytes) {
            blocks_.emplace_back();
            blocks_.back().reserve(kBlockBytes);
        }
        std::string& block = blocks_.back();
        Line line{.block = static_cast<std::uint32_t>(blocks_.size() - 1),
                  .key = static_cast<std::uint32_t>(block.size()),
                  .text = 0,
                  .end = 0};
        block += key;
        line.text = static_cast<std::uint32_t>(block.size());
        write(block);
        line.end = static_cast<std::uint32_t>(block.size());
        lines_.push_back(line);
    }
    // All lines in order, given to `print` one by one.
    template <class Print>
    void take(Print print) {
        // Equal keys: by text, so the order is always the same.
        const auto comes_first = [this](const Line& a, const Line& b) {
            const int order = key_of(a).compare(key_of(b));
            return order != 0 ? order < 0 : text_of(a) < text_of(b);
        };
        // Most lists come in the order they are shown in.
        if (!std::ranges::is_sorted(lines_, comes_first)) std::ranges::sort(lines_, comes_first);
        for (const Line& line : lines_) print(text_of(line));
        lines_.clear();
        blocks_.clear();
    }

  private:
    static constexpr std::size_t kBlockBytes = 256u << 10;
    static constexpr std::size_t kLineBytes = 4096;  // A longer one makes its block grow.
    struct Line {
        std::uint32_t block, key, text, end;
    };

    std::string_view key_of(const Line& line) const {
        return std::string_view(blocks_[line.block]).substr(line.key, line.text - line.key);
    }
    std::string_view text_of(const Line& line) const {
        return std::string_view(blocks_[line.block]).substr(line.text, line.end - line.text);
    }

    std::vector<std::string> blocks_;
    std::vector<Line> lines_;
};

}  // namespace switchyard::cli::format
