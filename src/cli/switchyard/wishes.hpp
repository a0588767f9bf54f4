// wishes.hpp: what was typed behind `switchyard up`, `down` and `status`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::cli {

struct Wishes {
    std::optional<std::string> name, dir;
    std::optional<std::uint32_t> nodes, cpus;
    std::optional<std::string> memory, gres;
    bool foreground = false;
    bool keep_jobs = false;

    bool shapes_cluster() const { return nodes || cpus || memory || gres; }
};

struct WishesParsed {
    Wishes wishes;
    std::optional<int> exit_code;  // What was wrong, or --help, has been printed.
};

// `verb` decides which options there are.
WishesParsed parse_wishes(std::string_view verb, const std::vector<std::string>& arguments);
// --help of the verb; empty: it has no options.
std::string help_of_verb(std::string_view verb);

}  // namespace switchyard::cli
