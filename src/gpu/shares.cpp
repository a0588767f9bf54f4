#include "gpu/shares.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/text.hpp"
#include "gpu/granted_card.hpp"

namespace switchyard::gpu {
namespace {

Failure failure(const std::string& what) {
    return fail(Errc::Io, fmt::format("{}: {}", what, std::strerror(errno)));
}

class File {
  public:
    File(const std::string& path, int flags, mode_t mode)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

bool may_hold_programs(const std::string& folder) {
    struct statvfs facts{};
    if (::statvfs(folder.c_str(), &facts) != 0) return false;
    return (facts.f_flag & ST_NOEXEC) == 0 && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

Status write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return failure(path);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

// A library that running programs have mapped must not change under them: a new file takes its
// name.
Status write_library(const std::string& path) {
    const std::string fresh = path + ".new";
    ::unlink(fresh.c_str());
    {
        const File file(fresh, O_WRONLY | O_CREAT | O_EXCL, 0755);
        if (file.get() < 0) return failure(fresh);
        SY_CHECK(write_all(file.get(), guard_image(), fresh));
        if (::fchmod(file.get(), 0755) != 0) return failure(fresh);
    }
    if (::rename(fresh.c_str(), path.c_str()) != 0) return failure(path);
    return {};
}

// In /dev/shm anybody can take a name before us, and could hand our jobs a library of theirs. What
// is there and is not ours is moved away, where we may; in a folder like that nobody else can move
// ours.
Status make_own_folder(const std::string& folder) {
    constexpr int kAttemptsMax = 8;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        if (::mkdir(folder.c_str(), 0755) == 0) return {};
        struct stat facts{};
        if (errno != EEXIST || ::lstat(folder.c_str(), &facts) != 0) return failure(folder);
        if (S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid()) {
            const bool closed = (facts.st_mode & 022) == 0 || ::chmod(folder.c_str(), 0755) == 0;
            return closed ? Status() : failure(folder);
        }
        if (::geteuid() != 0) break;
        const std::string aside = fmt::format("{}.not-ours-{:08x}", folder, std::random_device{}());
        if (::rename(folder.c_str(), aside.c_str()) != 0) return failure(folder);
    }
    return fail(Errc::AccessDenied, fmt::format("{} belongs to somebody else", folder));
}

// What the names of all files of a job begin with.
std::string prefix_of(JobId job, Attempt attempt) {
    return fmt::format("job_{}_{}.", job.value, attempt.value);
}

std::string ledger_file(const std::string& folder, const StepKey& key) {
    return fmt::format("{}/{}ledger", folder, prefix_of(key.job, key.attempt));
}

// "GPU-uuid,16,64,/path/of/its/turns", and what the driver itself limits the share to, in bytes.
std::string card_text(const std::string& folder, const StepKey& key,
                      const model::GresGrant::Share& share, const model::GresInventory& shard,
                      const std::vector<model::GresInventory>& cards) {
    const GrantedCard card = find_card(cards, share.device);
    std::string text = fmt::format("{},{},{},{}", card.name.empty() ? "*" : card.name, share.amount,
                                   shard.per_device(), turns_socket(folder, key, share.device));
    if (shard.protection.starts_with("dmem"))
        text += fmt::format(",{}", share_bytes(card, share.amount, shard.per_device()));
    return text;
}

}  // namespace

ShareChoice choose_level(std::string_view wanted, const ShareMeans& means) {
    const bool strict = wanted.ends_with("strict");
    std::string_view level = wanted;
    if (strict) level = trim(level.substr(0, level.size() - 6));
    if (level.ends_with('+')) level.remove_suffix(1);
    const std::string turns = strict ? "+strict" : "";
    if (level == "none" || level == "unprotected") {
        return {"none", "shares are counted but not enforced, as gres.conf says"};
    }
    if (!means.guard && !(level == "mps" && means.mps)) {
        return {"none", "shares are counted but cannot be enforced on this machine"};
    }
    if (level == "mps" && means.mps) return {"mps", {}};
    if (level == "mps") {
        return {"guard" + turns,
                "nvidia-cuda-mps-control is not installed: shares are kept by the guard"};
    }
    if (means.dmem && level != "guard") return {"dmem" + turns, {}};
    if (level == "dmem") {
        return {"guard" + turns,
                "the driver cannot limit memory by cgroups here (r615 and later can, with cgroup "
                "v2): shares are kept by the guard"};
    }
    return {"guard" + turns, {}};
}

std::string find_program(std::string_view name) {
    const char* path = std::getenv("PATH");
    const std::string folders =
        fmt::format("{}:/usr/bin:/usr/local/nvidia/bin", path == nullptr ? "" : path);
    for (const std::string_view folder : split(folders, ':')) {
        std::string program = fmt::format("{}/{}", folder, name);
        if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
    }
    return {};
}

ShareMeans find_means() {
    return {
        .dmem = false, .mps = !find_program(kMpsControl).empty(), .guard = !guard_image().empty()};
}

std::string guard_folder(std::string_view place, const std::string& otherwise) {
    std::string name(place);
    std::ranges::replace(name, '/', '-');
    if (may_hold_programs("/dev/shm")) return fmt::format("/dev/shm/switchyard-{}", name);
    return otherwise + "/guard-" + name;
}

std::string guard_library(const std::string& folder) {
    return fmt::format("{}/{}", folder, kGuardFile);
}

Status prepare_guard(const std::string& folder) {
    SY_CHECK(make_own_folder(folder));
    return write_library(guard_library(folder));
}

Status make_ledger(const std::string& folder, const GuardedStep& step) {
    const std::string path = ledger_file(folder, step.key);
    const File file(path, O_RDWR | O_CREAT, 0600);
    if (file.get() < 0) return failure(path);
    if (::geteuid() == 0 && ::fchown(file.get(), step.uid, step.gid) != 0) return failure(path);
    return {};
}

// The sockets of a stepd that was killed, too.
void remove_files_of(const std::string& folder, JobId job, Attempt attempt) {
    const std::string prefix = prefix_of(job, attempt);
    DIR* open = ::opendir(folder.c_str());
    if (open == nullptr) return;
    while (const dirent* entry = ::readdir(open)) {
        if (std::string_view(entry->d_name).starts_with(prefix))
            ::unlinkat(::dirfd(open), entry->d_name, 0);
    }
    ::closedir(open);
}

std::string turns_socket(const std::string& folder, const StepKey& key, std::uint32_t device) {
    return fmt::format("{}/{}{}.card{}.turns", folder, prefix_of(key.job, key.attempt),
                       key.step.value, device);
}

std::string guard_variable(const std::string& folder, const GuardedStep& step,
                           const model::GresGrant& shares, const model::GresInventory& shard,
                           const std::vector<model::GresInventory>& cards) {
    std::string text =
        fmt::format("job={};ledger={}", step.key.job.value, ledger_file(folder, step.key));
    if (shard.protection.ends_with("+strict")) text += ";strict";
    for (const model::GresGrant::Share& share : shares.shares) {
        text += ";card=" + card_text(folder, step.key, share, shard, cards);
    }
    return text;
}

MpsFolders mps_folders(const std::string& folder, std::uint32_t device) {
    return {fmt::format("{}/mps{}", folder, device), fmt::format("{}/mps{}-log", folder, device)};
}

std::uint64_t share_percent(std::uint64_t amount, std::uint64_t per_device) {
    if (per_device == 0) return 100;
    return std::clamp<std::uint64_t>(amount * 100 / per_device, 1, 100);
}

}  // namespace switchyard::gpu
