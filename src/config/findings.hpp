// findings.hpp: what a reader has to say about a file: errors, which refuse it, and notices, which
// do no harm.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace switchyard::config {

struct Findings {
    std::vector<std::string> errors;  // "file:line: text"
    std::vector<Config::Notice> notices;

    void error(std::string_view where, std::string_view text);
    void notice(std::string where, std::string text);
    // Says something about a key the first time only, however many lines have it.
    void notice_once(const std::string& key, std::string where, std::string text);

  private:
    std::set<std::string> said_;
};

}  // namespace switchyard::config
