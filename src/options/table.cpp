// table.cpp: the parts of the option table as one list.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "options/option.hpp"

namespace switchyard::options {

std::string_view to_string(Command command) {
    switch (command) {
        case Command::Sbatch:
            return "sbatch";
        case Command::Salloc:
            return "salloc";
        case Command::Srun:
            return "srun";
    }
    return "";
}

std::string_view Option::variables_of(Command command) const {
    switch (command) {
        case Command::Sbatch:
            return sbatch_variables;
        case Command::Salloc:
            return salloc_variables;
        case Command::Srun:
            return srun_variables;
    }
    return {};
}

namespace {

// Where in the parts, one behind the other, the options stand in the order of their names. Written
// down because every command needs it as it starts; a test holds it to the table, and
// SY_WRITE=1 options_test writes it anew.
constexpr std::uint16_t kOrder[] = {
#include "options/table_order.inc"
};

}  // namespace

std::vector<const Option*> options_by_part() {
    std::vector<const Option*> list;
    list.reserve(std::size(kOrder));
    for (const auto part : {run_options(), command_options(), place_options(), time_options(),
                            node_and_task_options(), node_shape_options(), gres_options(),
                            step_options(), hint_options(), refused_options()}) {
        for (const Option& option : part) list.push_back(&option);
    }
    return list;
}

std::span<const Option* const> all_options() {
    static const std::vector<const Option*> all = [] {
        std::vector<const Option*> parts = options_by_part();
        if (parts.size() != std::size(kOrder)) {  // Not written anew: no option may be lost by it.
            std::ranges::sort(parts, {}, &Option::name);
            return parts;
        }
        std::vector<const Option*> list;
        list.reserve(parts.size());
        for (const std::uint16_t place : kOrder) list.push_back(parts.at(place));
        return list;
    }();
    return all;
}

int exit_code(const Fault& fault) {
    return fault.kind == Fault::Kind::Unrecognized || fault.kind == Fault::Kind::BadValue ? 255 : 1;
}

std::optional<std::string> Surroundings::variable(std::string_view name) const {
    for (const std::string& entry : environment) {
        if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
            return entry.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

}  // namespace switchyard::options
