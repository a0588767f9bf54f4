// transcript_words.hpp: a line of a scenario as words: plain ones, and KEY=VALUE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "model/time_format.hpp"

namespace switchyard::core::testing {

using Unknown = std::vector<std::string>;  // Words that mean nothing.

inline std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::stoul(text));
}

// Minutes, or any other form that --time takes.
inline model::TimeLimit minutes(const std::string& text) { return *model::parse_time_limit(text); }

struct Words {
    std::vector<std::string> plain;
    std::map<std::string, std::string> values;
    std::vector<Words> more;  // Behind " : ": the other components.

    explicit Words(std::string_view line) {
        if (const auto mark = line.find(" : "); mark != std::string_view::npos) {
            const Words rest(line.substr(mark + 3));
            more.push_back(rest);
            more.insert(more.end(), rest.more.begin(), rest.more.end());
            line = line.substr(0, mark);
        }
        for (const std::string_view word : split(line, ' ')) {
            if (word.empty()) continue;
            const auto equals = word.find('=');
            if (equals == std::string_view::npos || word.starts_with("-") || equals == 0) {
                plain.emplace_back(word);
            } else {
                values.emplace(word.substr(0, equals), word.substr(equals + 1));
            }
        }
    }
    bool has(const std::string& flag) const {
        return std::ranges::find(plain, flag) != plain.end();
    }
    std::string get(const std::string& key, std::string fallback = {}) const {
        const auto found = values.find(key);
        return found == values.end() ? fallback : found->second;
    }
    std::uint32_t number(const std::string& key, std::uint32_t fallback = 0) const {
        const auto found = values.find(key);
        return found == values.end() ? fallback
                                     : static_cast<std::uint32_t>(std::stoul(found->second));
    }
};

}  // namespace switchyard::core::testing
