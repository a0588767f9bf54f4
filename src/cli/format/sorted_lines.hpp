// sorted_lines.hpp: printed lines that wait for the order they come out in. A list of a hundred
// thousand jobs is held as text and keys, a tenth of what its records would take.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace switchyard::cli::format {

class SortedLines {
  public:
    void add(std::string key, std::string text) {
        lines_.emplace_back(std::move(key), std::move(text));
    }
    // All lines in order, given to `print` one by one.
    template <class Print>
    void take(Print print) {
        std::ranges::sort(lines_);  // Equal keys: by text, so the order is always the same.
        for (const auto& [key, text] : lines_) print(text);
        lines_.clear();
    }

  private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace switchyard::cli::format
