#include "stepd/output_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/files.hpp"

namespace switchyard::stepd {
namespace {

std::string full_path(const std::string& pattern, const model::PatternFacts& facts,
                      const std::string& folder) {
    std::string name = model::expand_pattern(pattern, facts);
    return name.starts_with('/') ? name : folder + "/" + name;
}

// Clocks of hosts differ a little: what was written just before the step began may be its own.
constexpr Millis kClocksDiffer{1000};

void make_anew_if_older(int file, Instant started) {
    struct stat facts{};
    if (::flock(file, LOCK_EX) != 0) return;
    if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
        const Instant written{
            Millis{std::int64_t{facts.st_mtim.tv_sec} * 1000 + facts.st_mtim.tv_nsec / 1'000'000}};
        if (written < started - kClocksDiffer && ::ftruncate(file, 0) != 0) {
            // Then it is added to, which loses nothing.
        }
    }
    ::flock(file, LOCK_UN);
}

}  // namespace

Opening opening_of(const Launch& launch, const std::string& pattern, std::size_t local) {
    if (launch.command.open_mode == model::OpenMode::Append) return Opening::Append;
    if (model::is_per_task(pattern)) return Opening::Anew;
    if (local > 0) return Opening::Append;
    const bool alone = launch.layout.nodes.size() == 1 && !launch.het;
    return alone || model::is_per_node(pattern) ? Opening::Anew : Opening::AnewIfOlder;
}

model::PatternFacts pattern_facts(const Launch& launch, std::optional<std::uint32_t> task) {
    model::PatternFacts facts;
    facts.job = launch.job.id;
    if (launch.job.array) {
        facts.array_job = launch.job.array->array_id;
        facts.element = launch.job.array->element;
    }
    facts.job_name = launch.job.spec->name;
    facts.user = launch.user;
    facts.node = launch.node.substr(0, launch.node.find('.'));
    facts.node_index = launch.node_index;
    if (!launch.is_batch()) facts.step = launch.key.step;
    facts.task = task;
    return facts;
}

WorkDir find_work_dir(const Launch& launch) {
    WorkDir found;
    found.path = launch.is_batch() ? launch.job.spec->work_dir : launch.command.work_dir;
    if (found.path.empty())
        found.path = launch.job.spec->work_dir.empty() ? "/tmp" : launch.job.spec->work_dir;
    const os::ActingAs user(launch.who);
    // Opening, unlike access(2), asks with the effective user's rights.
    const io::Fd folder(::open(found.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder && ::faccessat(folder.get(), ".", X_OK, AT_EACCESS) == 0) return found;
    found.complaint = fmt::format("couldn't chdir to `{}': {}: going to /tmp instead", found.path,
                                  std::strerror(errno));
    found.path = "/tmp";
    return found;
}

Result<io::Fd> open_output(const Launch& launch, const std::string& pattern,
                           const model::PatternFacts& facts, const std::string& folder,
                           Opening opening) {
    const std::string path = full_path(pattern, facts, folder);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    if (opening == Opening::Anew) flags |= O_TRUNC;
    const os::ActingAs user(launch.who);
    const mode_t before = ::umask(launch.payload.umask);
    io::Fd file(user.ok() ? ::open(path.c_str(), flags, 0666) : -1);
    const int error = errno;
    ::umask(before);
    errno = error;
    if (!file) return os::errno_failure("Could not open stdout file " + path);
    if (opening == Opening::AnewIfOlder) make_anew_if_older(file.get(), launch.started);
    return file;
}

Result<io::Fd> open_input(const Launch& launch, const std::string& pattern,
                          const model::PatternFacts& facts, const std::string& folder) {
    const std::string path = full_path(pattern, facts, folder);
    const os::ActingAs user(launch.who);
    io::Fd file(user.ok() ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1);
    if (!file) return os::errno_failure("Could not open stdin file " + path);
    return file;
}

std::string default_output_pattern(const Launch& launch) {
    return launch.job.array && launch.job.array->element ? "slurm-%A_%a.out" : "slurm-%j.out";
}

}  // namespace switchyard::stepd
