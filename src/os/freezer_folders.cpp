#include "os/freezer_folders.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "os/cgroup_folders.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::string_view kSpare = "spare_";

}  // namespace

std::string FreezerFolders::flat_path(const StepKey& key) const {
    return fmt::format("{}/{}.{}", node_, job_folder(key), step_folder(key));
}

std::string FreezerFolders::spare_path() const {
    return fmt::format("{}/{}{}", node_, kSpare, ::getpid());
}

std::string FreezerFolders::path_of(const StepKey& key) const {
    std::string flat = flat_path(key);
    if (made_ == key || exists(flat)) return flat;
    std::string nested = step_path(node_, key);
    return exists(nested) ? nested : flat;
}

Status FreezerFolders::make(const StepKey& key) {
    const std::string path = flat_path(key);
    const bool made = ::rename(spare_path().c_str(), path.c_str()) == 0 ||
                      ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
    if (!made) return errno_failure(path);
    made_ = key;
    return {};
}

Status FreezerFolders::remove(const StepKey& key, bool keep) {
    const std::string path = path_of(key);
    if (path != flat_path(key)) {
        if (const auto gone = remove_step_folder(node_, key); !gone) return Failure{gone.error()};
        return {};
    }
    // The kernel would rename a folder with processes in it, too.
    const bool renamed = keep && made_ == key && is_empty_cgroup(path) &&
                         ::rename(path.c_str(), spare_path().c_str()) == 0;
    if (!renamed) SY_CHECK(remove_cgroup(path));
    if (made_ == key) made_.reset();
    return {};
}

std::vector<StepKey> FreezerFolders::existing() const {
    std::vector<StepKey> found = list_steps(node_);
    const auto names = list_folder(node_);
    if (!names) return found;
    for (const std::string& name : *names) {
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos) continue;
        if (const auto key = parse_folders(name.substr(0, dot), name.substr(dot + 1)))
            found.push_back(*key);
    }
    return found;
}

void FreezerFolders::drop_spare() const { ::rmdir(spare_path().c_str()); }

void FreezerFolders::drop_all_spares() const {
    const auto names = list_folder(node_);
    if (!names) return;
    for (const std::string& name : *names) {
        if (name.starts_with(kSpare)) ::rmdir((node_ + "/" + name).c_str());
    }
}

}  // namespace switchyard::os
