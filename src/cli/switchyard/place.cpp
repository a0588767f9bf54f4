#include "cli/switchyard/place.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

// A socket's path has 107 characters. The longest below a cluster's folder is that of a step:
// spool/<node>/<job>.<step>.<attempt>.sock.
constexpr std::size_t kFolderLengthMax = 50;

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
