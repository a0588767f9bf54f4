#include "config/findings.hpp"

#include <fmt/core.h>

#include <utility>

namespace switchyard::config {

void Findings::error(std::string_view where, std::string_view text) {
    errors.push_back(fmt::format("{}: {}", where, text));
}

void Findings::notice(std::string where, std::string text) {
    notices.push_back({std::move(where), std::move(text)});
}

void Findings::notice_once(const std::string& key, std::string where, std::string text) {
    if (said_.insert(key).second) notice(std::move(where), std::move(text));
}

}  // namespace switchyard::config
