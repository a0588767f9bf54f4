#include "cli/srun/multi_prog.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/index_set.hpp"

namespace switchyard::cli {

std::vector<std::string> multi_prog_lines(std::string_view file) {
    std::vector<std::string> lines;
    std::string joined;
    for (std::string_view line : split(file, '\n')) {
        const bool continues = line.ends_with('\\');
        if (continues) line.remove_suffix(1);
        joined += line;
        if (continues) continue;
        const std::string_view said = trim(joined);
        if (!said.empty() && !said.starts_with('#')) lines.emplace_back(said);
        joined.clear();
    }
    if (const std::string_view said = trim(joined); !said.empty() && !said.starts_with('#'))
        lines.emplace_back(said);
    return lines;
}

Status check_multi_prog(const std::vector<std::string>& lines, std::uint32_t task_count,
                        std::string_view file_name) {
    model::IndexSet named;
    bool others = false;
    for (const std::string& line : lines) {
        const std::string_view ranks = std::string_view(line).substr(0, line.find_first_of(" \t"));
        const std::string_view program = trim(std::string_view(line).substr(ranks.size()));
        if (program.empty()) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid: no program in \"{}\"",
                                    file_name, line));
        }
        if (ranks == "*") {
            others = true;
            continue;
        }
        const auto tasks = model::parse_index_set(ranks);
        if (!tasks || tasks->empty()) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid: bad task rank \"{}\"",
                                    file_name, ranks));
        }
        named.insert(*tasks);
    }
    for (std::uint32_t task = 0; task < task_count && !others; ++task) {
        if (!named.contains(task)) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid, no record for task id {}",
                                    file_name, task));
        }
    }
    return {};
}

}  // namespace switchyard::cli
