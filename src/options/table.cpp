// table.cpp: the parts of the option table as one list.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.hpp"
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

// The first eight characters as a number that sorts as they do. Every command sorts the table as it
// starts, and nearly all names differ here.
std::uint64_t head_of(std::string_view name) {
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < sizeof head; ++i)
        head = head << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
    return head;
}

}  // namespace

std::span<const Option* const> all_options() {
    static const std::vector<const Option*> all = [] {
        struct Place {
            std::uint64_t head;
            const Option* option;
        };
        std::vector<Place> places;
        for (const auto part : {run_options(), command_options(), place_options(), time_options(),
                                node_and_task_options(), node_shape_options(), gres_options(),
                                step_options(), hint_options(), refused_options()}) {
            places.reserve(places.size() + part.size());
            for (const Option& option : part) places.push_back({head_of(option.name), &option});
        }
        std::ranges::sort(places, [](const Place& a, const Place& b) {
            return a.head != b.head ? a.head < b.head : a.option->name < b.option->name;
        });
        std::vector<const Option*> list;
        list.reserve(places.size());
        for (const Place& place : places) list.push_back(place.option);
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
