// broadcast.cpp: srun runs a shell script of ours once on every node, and a process of its own
// feeds all files, one behind the other, into srun's input. The script writes each file beside its
// target and renames it when it is whole. Libraries are what ldd names.
#include "cli/sbcast/broadcast.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/text.hpp"
#include "cli/message.hpp"
#include "io/fd.hpp"
#include "model/hostlist.hpp"
#include "options/export.hpp"
#include "os/spawn.hpp"

extern char** environ;

namespace switchyard::cli {
namespace {

// Reads file after file from its input: so many bytes of each, into a file beside the target that
// takes its name when it is whole.
constexpr std::string_view kReceiver = R"sh(
say() { echo "sbcast: error: REQUEST_FILE_BCAST($SLURMD_NODENAME): $1" >&2; exit 1; }
force=$1 preserve=$2; shift 2
while [ $# -gt 0 ]; do
  target=$1 mode=$2 size=$3 times=$4; shift 4
  folder=${target%/*}
  case $target in *_libs/*) mkdir -p "$folder" || say "No such file or directory";; esac
  [ -d "${folder:-/}" ] || say "No such file or directory"
  [ "$force" = 1 ] || [ ! -e "$target" ] || say "File exists"
  part=$target.sbcast.$$
  (umask 077; head -c "$size" > "$part") 2>/dev/null || { rm -f "$part"; say "Permission denied"; }
  [ "$(wc -c < "$part")" -eq "$size" ] || { rm -f "$part"; say "the file did not come whole"; }
  chmod "$mode" "$part"
  [ "$preserve" = 0 ] || touch -d "@$times" "$part"
  mv -f "$part" "$target" || { rm -f "$part"; say "Permission denied"; }
done
)sh";

struct File {
    std::string source, target;
    struct stat facts;
};

Result<File> look_at(const std::string& source, const std::string& target) {
    File file{source, target, {}};
    if (::stat(source.c_str(), &file.facts) != 0)
        return fail(Errc::NotFound,
                    fmt::format("Can't open `{}`: {}", source, std::strerror(errno)));
    if (!S_ISREG(file.facts.st_mode))
        return fail(Errc::InvalidArgument, fmt::format("`{}` is not a regular file", source));
    return file;
}

std::string absolute(const std::string& path) {
    if (path.starts_with('/')) return path;
    char folder[PATH_MAX];
    return ::getcwd(folder, sizeof folder) == nullptr ? "/tmp/" + path
                                                      : fmt::format("{}/{}", folder, path);
}

// The output of a program; empty if it fails.
std::string output_of(const std::vector<std::string>& argv) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    const io::Fd reading(ends[0]);
    io::Fd writing(ends[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    os::SpawnRequest spawn;
    spawn.path = argv.front();
    spawn.argv = argv;
    for (char** entry = environ; *entry != nullptr; ++entry) spawn.environment.emplace_back(*entry);
    spawn.descriptors = {{nothing.get(), 0}, {writing.get(), 1}, {nothing.get(), 2}};
    const auto child = os::spawn(spawn);
    writing.reset();
    if (!child) return {};
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::read(reading.get(), chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(got));
    int status = 0;
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? text : std::string();
}

bool is_excluded(std::string_view path, std::string_view folders) {
    if (equals_ignoring_case(folders, "NONE")) return false;
    for (const std::string_view folder : split(folders, ',')) {
        const std::string_view name = trim(folder);
        if (!name.empty() && path.starts_with(name) && path.size() > name.size() &&
            path[name.size()] == '/')
            return true;
    }
    return false;
}

// "libx.so.1 => /opt/lib/libx.so.1 (0x...)": as ldd tells the libraries of a program.
std::vector<std::string> libraries_of(const Broadcast& plan) {
    std::vector<std::string> found;
    for (const std::string_view line : split(output_of({"/usr/bin/ldd", plan.source}), '\n')) {
        const std::size_t arrow = line.find("=> /");
        if (arrow == std::string_view::npos) continue;
        const std::string_view rest = line.substr(arrow + 3);
        const std::string path(rest.substr(0, rest.find(' ')));
        if (!is_excluded(path, plan.exclude)) found.push_back(path);
    }
    return found;
}

Result<std::vector<File>> files_of(const Broadcast& plan) {
    std::vector<File> files;
    const std::string target = absolute(plan.target);
    SY_TRY(File program, look_at(plan.source, target));
    files.push_back(std::move(program));
    if (!plan.send_libs) return files;
    for (const std::string& library : libraries_of(plan)) {
        const std::string name = library.substr(library.rfind('/') + 1);
        SY_TRY(File file, look_at(library, libraries_folder(target) + "/" + name));
        files.push_back(std::move(file));
    }
    return files;
}

std::vector<std::string> srun_words(const Broadcast& plan, const std::vector<File>& files) {
    std::vector<std::string> words{"srun",
                                   fmt::format("--jobid={}", plan.job),
                                   "--overlap",
                                   "--ntasks-per-node=1",
                                   "--gres=none",
                                   "--job-name=sbcast",
                                   "-Q",
                                   "/bin/sh",
                                   "-c",
                                   std::string(kReceiver),
                                   "sbcast",
                                   plan.force ? "1" : "0",
                                   plan.preserve ? "1" : "0"};
    if (!plan.nodes.empty()) {
        words.insert(words.begin() + 2, {fmt::format("--nodes={}", plan.nodes.size()),
                                         "--nodelist=" + model::compress_hostlist(plan.nodes)});
    }
    for (const File& file : files) {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        const auto mode = file.facts.st_mode & 07777 & (plan.preserve ? 07777u : ~mask);
        words.push_back(file.target);
        words.push_back(fmt::format("{:o}", mode));
        words.push_back(fmt::to_string(file.facts.st_size));
        words.push_back(fmt::to_string(file.facts.st_mtime));
    }
    return words;
}

// Writes the files one after the other; in a process of its own, as long as they are wanted.
pid_t start_feeding(const std::vector<File>& files, int to, int other_end) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::close(other_end);
    ::signal(SIGPIPE, SIG_DFL);
    char chunk[1 << 16];
    for (const File& file : files) {
        const int from = ::open(file.source.c_str(), O_RDONLY | O_CLOEXEC);
        if (from < 0) ::_exit(1);
        for (ssize_t got = 0; (got = ::read(from, chunk, sizeof chunk)) > 0;) {
            for (ssize_t sent = 0; sent < got;) {
                const ssize_t more =
                    ::write(to, chunk + sent, static_cast<std::size_t>(got - sent));
                if (more <= 0) ::_exit(1);
                sent += more;
            }
        }
        ::close(from);
    }
    ::_exit(0);
}

// srun's lines are not ours; those of the nodes are.
void hand_on_errors(int from) {
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::read(from, chunk, sizeof chunk)) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        text.append(chunk, static_cast<std::size_t>(got));
    }
    for (const std::string_view line : split(text, '\n')) {
        if (line.empty() || line.contains(": Exited with exit code ")) continue;
        const std::size_t own = line.starts_with("srun: error: ") ? 13 : 0;
        const std::string shown = own > 0 ? fmt::format("sbcast: error: {}\n", line.substr(own))
                                          : std::string(line) + "\n";
        std::fwrite(shown.data(), 1, shown.size(), stderr);
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

std::string libraries_folder(const std::string& target) { return target + "_libs"; }

Status broadcast(const Broadcast& plan) {
    SY_TRY(const std::vector<File> files, files_of(plan));
    int feed[2], complaints[2];
    if (::pipe2(feed, O_CLOEXEC) != 0 || ::pipe2(complaints, O_CLOEXEC) != 0)
        return fail(Errc::Io, std::strerror(errno));
    io::Fd feed_in(feed[0]), feed_out(feed[1]), errors_in(complaints[0]), errors_out(complaints[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    os::SpawnRequest spawn;
    spawn.path = os::own_executable();
    spawn.argv = srun_words(plan, files);
    if (plan.timeout_seconds > 0)
        spawn.argv.insert(spawn.argv.begin() + 1, fmt::format("--time=0:{}", plan.timeout_seconds));
    for (char** entry = environ; *entry != nullptr; ++entry) spawn.environment.emplace_back(*entry);
    options::remove_job_description(spawn.environment);
    spawn.descriptors = {{feed_in.get(), 0}, {nothing.get(), 1}, {errors_out.get(), 2}};
    spawn.new_session = false;
    if (plan.verbose) {
        for (const File& file : files)
            say("sbcast", fmt::format("{} to {}, {} bytes", file.source, file.target,
                                      static_cast<std::int64_t>(file.facts.st_size)));
    }
    SY_TRY(const pid_t child, os::spawn(spawn));
    errors_out.reset();
    const pid_t feeder = start_feeding(files, feed_out.get(), feed_in.get());
    feed_in.reset();
    feed_out.reset();
    hand_on_errors(errors_in.get());
    const int status = wait_for(child);
    if (feeder > 0) {
        ::kill(feeder, SIGTERM);
        wait_for(feeder);
    }
    if (status != 0) return fail(Errc::Io, "");
    return {};
}

}  // namespace switchyard::cli
