#include "cli/switchyard/place.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "model/size_format.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

constexpr std::uint32_t kPretendNodesMax = 256;
// A socket's path has 107 characters. The longest below a cluster's folder is that of a step:
// spool/<node>/<job>.<step>.<attempt>.sock.
constexpr std::size_t kFolderLengthMax = 50;

enum class Takes { Nothing, Value };

struct Option {
    std::string_view name;
    Takes takes;
    bool up_only;
    Status (*set)(Wishes& wishes, const std::string& value);
};

Status set_count(std::optional<std::uint32_t>& into, const std::string& value,
                 std::string_view what, std::uint32_t max) {
    const auto number = parse_uint(value);
    if (!number || *number == 0 || *number > max) {
        return fail(Errc::InvalidArgument,
                    fmt::format("\"{}\" is not a number of {} between 1 and {}", value, what, max));
    }
    into = static_cast<std::uint32_t>(*number);
    return {};
}

Status set_memory(Wishes& wishes, const std::string& value) {
    const auto amount = model::parse_memory(value);
    if (!amount || amount->value == 0) {
        return fail(Errc::InvalidArgument,
                    fmt::format("\"{}\" is not an amount of memory (4000M, 16G)", value));
    }
    wishes.memory = std::to_string(amount->value);
    return {};
}

constexpr Option kOptions[] = {
    {"name", Takes::Value, false,
     [](Wishes& w, const std::string& v) -> Status { return w.name = v, Status(); }},
    {"dir", Takes::Value, false,
     [](Wishes& w, const std::string& v) -> Status { return w.dir = v, Status(); }},
    {"nodes", Takes::Value, true,
     [](Wishes& w, const std::string& v) {
         return set_count(w.nodes, v, "nodes", kPretendNodesMax);
     }},
    {"cpus", Takes::Value, true,
     [](Wishes& w, const std::string& v) { return set_count(w.cpus, v, "CPUs", 65536); }},
    {"memory", Takes::Value, true, set_memory},
    {"gres", Takes::Value, true,
     [](Wishes& w, const std::string& v) -> Status { return w.gres = v, Status(); }},
    {"foreground", Takes::Nothing, true,
     [](Wishes& w, const std::string&) -> Status { return w.foreground = true, Status(); }},
    {"keep-jobs", Takes::Nothing, false,
     [](Wishes& w, const std::string&) -> Status { return w.keep_jobs = true, Status(); }},
    {"help", Takes::Nothing, false,
     [](Wishes& w, const std::string&) -> Status { return w.help = true, Status(); }},
};

const Option* find_option(std::string_view name, const std::string& verb) {
    for (const Option& option : kOptions) {
        if (option.name != name) continue;
        if (option.up_only && verb != "up") return nullptr;
        if (name == "keep-jobs" && verb != "down") return nullptr;
        return &option;
    }
    return nullptr;
}

std::string home_folder() {
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
    const auto user = os::find_user(::getuid());
    return user ? user->home : "/";
}

std::string absolute(const std::string& path) {
    if (path.starts_with('/')) return path;
    char here[PATH_MAX];
    if (::getcwd(here, sizeof here) == nullptr) return path;
    return std::string(here) + "/" + path;
}

std::string without_trailing_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

bool is_fit_name(std::string_view name) {
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    return !name.empty() && name.size() <= 40 &&
           name.find_first_not_of(kAllowed) == std::string_view::npos && name.front() != '-';
}

}  // namespace

Result<Wishes> parse_wishes(const std::string& verb, const std::vector<std::string>& arguments) {
    Wishes wishes;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "-h") {
            wishes.help = true;
            continue;
        }
        if (!argument.starts_with("--")) {
            return fail(Errc::InvalidArgument,
                        fmt::format("{} does not know what to do with \"{}\"", verb, argument));
        }
        const std::size_t equals = argument.find('=');
        const std::string name =
            argument.substr(2, equals == std::string::npos ? equals : equals - 2);
        const Option* option = find_option(name, verb);
        if (option == nullptr) {
            return fail(Errc::InvalidArgument, fmt::format("{} has no option --{}", verb, name));
        }
        std::string value;
        if (option->takes == Takes::Nothing && equals != std::string::npos) {
            return fail(Errc::InvalidArgument, fmt::format("--{} takes no value", name));
        }
        if (option->takes == Takes::Value) {
            if (equals == std::string::npos && i + 1 == arguments.size()) {
                return fail(Errc::InvalidArgument, fmt::format("--{} needs a value", name));
            }
            value = equals != std::string::npos ? argument.substr(equals + 1) : arguments[++i];
        }
        if (const Status status = option->set(wishes, value); !status) {
            return fail(Errc::InvalidArgument,
                        fmt::format("--{}: {}", name, status.error().message));
        }
    }
    return wishes;
}

Result<Place> choose_place(const Wishes& wishes) {
    Place place;
    place.name = to_lower(wishes.name.value_or(kDefaultClusterName));  // As Slurm does.
    if (!is_fit_name(place.name)) {
        return fail(
            Errc::InvalidArgument,
            fmt::format("\"{}\" cannot be the name of a cluster: use letters, digits, '-' and '_'",
                        place.name));
    }
    const bool root = ::geteuid() == 0;
    if (wishes.dir) {
        if (wishes.dir->empty()) return fail(Errc::InvalidArgument, "--dir needs a folder");
        place.folder = without_trailing_slashes(absolute(*wishes.dir));
        place.run_dir = place.folder + "/run";
    } else {
        const std::string base = root ? "/var/lib/switchyard" : home_folder() + "/.switchyard";
        place.folder = base + "/" + place.name;
        place.run_dir = root ? "/run/switchyard/" + place.name : place.folder + "/run";
        place.shared_link = base + "/slurm.conf";
    }
    place.config = place.folder + "/slurm.conf";
    if (place.folder.size() > kFolderLengthMax) {
        return fail(
            Errc::InvalidArgument,
            fmt::format(
                "{} is too long a folder name for sockets to fit in: choose one of at most {} "
                "characters with --dir",
                place.folder, kFolderLengthMax));
    }
    if (place.folder.find_first_of(" \t\n#\"\\") != std::string::npos) {
        return fail(
            Errc::InvalidArgument,
            fmt::format("\"{}\" has blanks or quotes in it: choose another folder with --dir",
                        place.folder));
    }
    return place;
}

}  // namespace switchyard::cli
