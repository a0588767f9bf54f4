// lines.hpp: the text form that slurm.conf, gres.conf and cgroup.conf share, as lists of Key=Value
// pairs.
//
// A logical line is one or more physical ones joined by a backslash at the end. '#' starts a
// comment unless it is escaped or quoted. `Include file` is followed where it stands, relative to
// the file that names it; %c in its name is the cluster's name, known from the ClusterName read so
// far. What the keys mean is decided elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::config {

struct Pair {
    std::string key;  // As written.
    std::string value;
};

struct Line {
    std::size_t file = 0;    // Index into Lines::files.
    std::size_t number = 0;  // Of its first physical line, from 1.
    std::vector<Pair> pairs;

    // The value of a key of this line, compared ignoring case; nullptr if it is not there.
    const std::string* find(std::string_view key) const;
};

struct Lines {
    std::vector<std::string> files;
    std::vector<Line> lines;
    std::vector<std::string> errors;  // Malformed lines, each with file:line.

    std::string where(const Line& line) const;  // "/etc/slurm/slurm.conf:12"
};

// Which lines are worth the work: given the first key of a line, lower case not applied. nullptr:
// all.
using WantsLine = bool (*)(std::string_view first_key);

// NotFound or Io if the file or an included one cannot be read; malformed lines are in `errors`.
Result<Lines> read_lines(const std::string& path, WantsLine wants = nullptr);

}  // namespace switchyard::config
