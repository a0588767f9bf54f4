#include "os/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>

#include "base/text.hpp"
#include "os/descriptors.hpp"
#include "os/files.hpp"
#include "os/log.hpp"

namespace switchyard::os {
namespace {

// A sanitizer would take what the child allocates in shared memory for a leak of ours.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SY_FORK_COPIES
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SY_FORK_COPIES
#endif
#ifdef SY_FORK_COPIES
constexpr bool kForkCopies = true;
#else
constexpr bool kForkCopies = false;
#endif

constexpr std::size_t kInterpreterBytesMax = 256;
constexpr std::size_t kPidDigits = 10;
constexpr int kStandardSignalLast = 31;

// The plan as arrays of pointers, and what only the kernel reads.
struct Prepared {
    const ChildPlan* plan = nullptr;
    std::vector<char*> argv, environment;
    char* pid_digits = nullptr;  // Where in the environment the process id is to be written.
    cpu_set_t cpus{};
    int nothing = -1;  // /dev/null
    int placed = -1;   // Closes when the child is in its place.
};

[[noreturn]] void give_up(std::string_view text, int code) {
    const std::string line = log_line("error: ", text);
    [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(code);
}

void enter_cgroups(const Entrance& entrance) {
    for (const std::string& file : entrance.files) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::write(fd, "0", 1) != 1) {
            give_up(fmt::format("{}: {}", file, std::strerror(errno)), 1);
        }
        ::close(fd);
    }
}

// A stepd is spared when the machine runs out of memory; its tasks are not.
void share_memory_pressure() {
    if (::geteuid() != 0) return;
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t sent = ::write(fd, "0", 1);
    ::close(fd);
}

// Handlers end with exec; what is ignored would stay so. Nobody who starts a stepd ignores
// real-time signals on its behalf: they were reset when it was spawned.
void reset_signals() {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal <= kStandardSignalLast; ++signal)
        ::sigaction(signal, &standard, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Our descriptors may be numbered 0 to 2 themselves: move them out of the way before placing them.
void place_descriptors(const Prepared& prepared) {
    const ChildPlan& plan = *prepared.plan;
    int wanted[3] = {plan.std_in, plan.std_out, plan.std_err};
    for (int& fd : wanted) {
        fd = ::fcntl(fd < 0 ? prepared.nothing : fd, F_DUPFD_CLOEXEC, 10);
    }
    for (int i = 0; i < 3; ++i) ::dup2(wanted[i], i);
    if (plan.kept >= 0) ::fcntl(plan.kept, F_SETFD, 0);
}

// What a session's limits are made of. The others decide over the machine (priorities, locked
// queues) and are nobody's to ask for.
constexpr int kLimitsOfUsers[] = {RLIMIT_CPU,     RLIMIT_FSIZE, RLIMIT_DATA,  RLIMIT_STACK,
                                  RLIMIT_CORE,    RLIMIT_RSS,   RLIMIT_NPROC, RLIMIT_NOFILE,
                                  RLIMIT_MEMLOCK, RLIMIT_AS};

// The hard limits are the node's, as at a login: a user may ask for less, not for more.
void set_limits(const std::vector<ChildLimit>& limits, uid_t user) {
    for (const ChildLimit& limit : limits) {
        if (std::ranges::find(kLimitsOfUsers, limit.resource) == std::end(kLimitsOfUsers)) continue;
        const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
        rlimit now{};
        if (::getrlimit(resource, &now) != 0) continue;
        rlimit wanted{limit.soft, limit.hard};
        const bool may_raise = ::geteuid() == 0 && user == 0;
        if (wanted.rlim_max > now.rlim_max && !may_raise) wanted.rlim_max = now.rlim_max;
        if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
        if (wanted.rlim_cur == now.rlim_cur && wanted.rlim_max == now.rlim_max) continue;
        ::setrlimit(resource, &wanted);
    }
}

// A container may not permit it: the task runs all the same, and says so.
void set_memory_policy(const ChildPlan& plan) {
    if (plan.memory_policy < 0) return;
    const bool named = plan.memory_domains != 0;
    const unsigned long domains = plan.memory_domains;
    if (::syscall(SYS_set_mempolicy, plan.memory_policy, named ? &domains : nullptr,
                  named ? sizeof domains * 8 + 1 : 0) == 0)
        return;
    const std::string line =
        log_line("error: ", fmt::format("memory could not be bound: {}", std::strerror(errno)));
    [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
}

void report(const ChildPlan& plan, ChildReport::Kind kind, std::string_view text,
            std::span<const int> descriptors = {}) {
    if (plan.report < 0) return;
    const std::string packet = static_cast<char>(kind) + std::string(text);
    (void)send_packet(plan.report, std::string_view(packet).substr(0, kPacketBytesMax),
                      descriptors);
}

// Where it is, and what it has to say about that.
struct Folder {
    std::string path, complaint;
};

Folder go_to_work_dir(const ChildPlan& plan) {
    if (plan.work_dir.empty() || ::chdir(plan.work_dir.c_str()) == 0) return {plan.work_dir, {}};
    Folder found{"/tmp", fmt::format("couldn't chdir to `{}': {}: going to /tmp instead",
                                     plan.work_dir, std::strerror(errno))};
    report(plan, ChildReport::Kind::Complaint, found.complaint);
    if (::chdir("/tmp") != 0) ::_exit(errno);
    return found;
}

void make_anew_if_older(int file, Instant than) {
    struct stat facts{};
    if (::flock(file, LOCK_EX) != 0) return;
    if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
        const Instant written{
            Millis{std::int64_t{facts.st_mtim.tv_sec} * 1000 + facts.st_mtim.tv_nsec / 1'000'000}};
        if (written < than && ::ftruncate(file, 0) != 0) {
            // Then it is added to, which loses nothing.
        }
    }
    ::flock(file, LOCK_UN);
}

// A file that is written is made with the folders that lead to it; what cannot be made is told by
// the open that fails.
int open_with_folders(const ChildFile& file) {
    const int flags = file.flags | O_NOCTTY | O_CLOEXEC;
    const int fd = ::open(file.path.c_str(), flags, 0666);
    const std::size_t slash = file.path.rfind('/');
    const bool may_help = errno == ENOENT && slash != std::string::npos && slash > 0;
    if (fd >= 0 || !may_help || (flags & O_CREAT) == 0) return fd;
    (void)make_folders(file.path.substr(0, slash), 0777);
    return ::open(file.path.c_str(), flags, 0666);
}

// Ends the child if it cannot be opened. May take as long as it likes: nobody waits.
int open_file(const ChildPlan& plan, int stream, const std::string& folder) {
    const ChildFile& file = plan.files[stream];
    const int fd = open_with_folders(file);
    if (fd >= 0) {
        if (file.anew_if_older) make_anew_if_older(fd, *file.anew_if_older);
        return fd;
    }
    const int error = errno;
    const std::string path = file.path.starts_with('/') ? file.path : folder + "/" + file.path;
    const std::string text =
        fmt::format("Could not open {} file {}: {}", stream == 0 ? "stdin" : "stdout", path,
                    std::strerror(error));
    report(plan, ChildReport::Kind::Failure, text);
    give_up(text, error);
}

// The standard error of a task for others to write to: to a file together, else (a FIFO whose
// reader has stopped, a terminal) by a descriptor that never waits.
int shared_standard_error() {
    struct stat facts{};
    if (::fstat(STDERR_FILENO, &facts) != 0) return -1;
    if (S_ISREG(facts.st_mode)) return ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    const std::string path = fmt::format("/proc/self/fd/{}", STDERR_FILENO);
    return ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// "12m": which descriptors a report brings, in their order.
void open_files(const ChildPlan& plan, const std::string& folder) {
    bool any = plan.reports_messages;
    std::string kinds;
    std::vector<int> handed;
    for (int stream = 0; stream < 3; ++stream) {
        if (plan.files[stream].path.empty()) continue;
        any = true;
        const int fd = open_file(plan, stream, folder);
        if (plan.files[stream].handed_over) {
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
            kinds += static_cast<char>('0' + stream);
            handed.push_back(fd);
        } else {
            ::dup2(fd, stream);
            ::close(fd);
        }
    }
    if (plan.error_with_output) ::dup2(STDOUT_FILENO, STDERR_FILENO);
    if (!any) return;
    if (const int fd = plan.reports_messages ? shared_standard_error() : -1; fd >= 0) {
        kinds += 'm';
        handed.push_back(fd);
    }
    report(plan, ChildReport::Kind::Files, kinds, handed);
    for (const int fd : handed) ::close(fd);
}

void say(int stream, const std::string& text) {
    if (text.empty()) return;
    [[maybe_unused]] const ssize_t sent = ::write(stream, text.data(), text.size());
}

// A script whose "#!" line names a program that is not there fails with the script's own name,
// which misleads: name the interpreter.
std::string exec_error_subject(const std::string& program, int error) {
    if (error != ENOENT) return program;
    const int fd = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return program;
    char head[kInterpreterBytesMax];
    const ssize_t got = ::read(fd, head, sizeof head);
    ::close(fd);
    std::string_view text(head, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (!text.starts_with("#!")) return program;
    text = trim(text.substr(2, text.find('\n') - 2));
    text = text.substr(0, text.find(' '));
    return fmt::format("bad interpreter({})", text);
}

[[noreturn]] void execute(const Prepared& prepared) {
    const ChildPlan& plan = *prepared.plan;
    int error = ENOENT;
    std::string subject = plan.argv.empty() ? std::string() : plan.argv[0];
    for (const std::string& program : plan.programs) {
        ::execve(program.c_str(), prepared.argv.data(), prepared.environment.data());
        const bool keep_looking = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        // Of several reasons the one that says most: a program that may not be executed.
        if (errno != ENOENT && errno != ENOTDIR) error = errno;
        if (plan.programs.size() == 1 || !keep_looking) {
            subject = exec_error_subject(program, error);
            break;
        }
    }
    give_up(fmt::format("execve(): {}: {}", subject, std::strerror(error)), error);
}

[[noreturn]] void run_child(const Prepared& prepared) {
    const ChildPlan& plan = *prepared.plan;
    place_descriptors(prepared);
    ::setsid();
    enter_cgroups(plan.entrance);
    share_memory_pressure();
    if (plan.terminal) ::ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    if (!plan.cpus.empty()) ::sched_setaffinity(0, sizeof prepared.cpus, &prepared.cpus);
    set_memory_policy(plan);
    set_limits(plan.limits, plan.who.uid);
    ::umask(plan.umask);
    // Whoever started it may count on that: what is meant for the step reaches it. What follows is
    // the user's affair.
    if (prepared.placed >= 0) ::close(prepared.placed);
    if (!become(plan.who))
        give_up(fmt::format("cannot become uid {}: {}", plan.who.uid, std::strerror(errno)), 1);
    // From here on signals mean what they mean to its program: who waits for a file can be ended.
    reset_signals();
    const Folder folder = go_to_work_dir(plan);
    open_files(plan, folder.path);
    if (!folder.complaint.empty()) say(STDERR_FILENO, log_line("error: ", folder.complaint));
    say(STDOUT_FILENO, plan.greeting);
    if (prepared.pid_digits != nullptr) {
        std::string digits = fmt::to_string(::getpid());
        std::memcpy(prepared.pid_digits, digits.c_str(), digits.size() + 1);
    }
    say(STDERR_FILENO, plan.preface);
    execute(prepared);
}

Prepared prepare(ChildPlan& plan, int nothing) {
    Prepared prepared;
    prepared.plan = &plan;
    prepared.nothing = nothing;
    if (!plan.pid_variable.empty()) {
        plan.environment.push_back(plan.pid_variable + "=" + std::string(kPidDigits, '0'));
        std::string& entry = plan.environment.back();
        prepared.pid_digits = entry.data() + entry.size() - kPidDigits;
    }
    for (std::string& argument : plan.argv) prepared.argv.push_back(argument.data());
    for (std::string& entry : plan.environment) prepared.environment.push_back(entry.data());
    prepared.argv.push_back(nullptr);
    prepared.environment.push_back(nullptr);
    CPU_ZERO(&prepared.cpus);
    for (const std::uint32_t cpu : plan.cpus.to_vector()) {
        if (cpu < CPU_SETSIZE) CPU_SET(cpu, &prepared.cpus);
    }
    return prepared;
}

// A copy of this process, born inside the cgroup of `folder` (-1: where we are), so that it is
// never outside it, not even for a moment.
pid_t fork_into(int folder) {
    if (folder < 0) return ::fork();
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(folder);
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

}  // namespace

std::vector<std::string> program_candidates(const std::string& name,
                                            const std::vector<std::string>& environment,
                                            const std::string& work_dir) {
    if (name.starts_with('/')) return {name};
    if (name.find('/') != std::string::npos) return {work_dir + "/" + name};
    std::vector<std::string> found;
    for (const std::string& entry : environment) {
        if (!entry.starts_with("PATH=")) continue;
        for (const std::string_view folder : split(std::string_view(entry).substr(5), ':')) {
            const std::string base = folder.empty() ? work_dir : std::string(folder);
            found.push_back((base.starts_with('/') ? base : work_dir + "/" + base) + "/" + name);
        }
        break;
    }
    return found;
}

Result<pid_t> start_child(ChildPlan plan) {
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return errno_failure("/dev/null");
    Prepared prepared = prepare(plan, nothing.get());
    const bool shares = plan.is_of_site && !kForkCopies && plan.entrance.folder < 0;
    int ends[2] = {-1, -1};
    if (!shares && ::pipe2(ends, O_CLOEXEC) != 0) return errno_failure("pipe");
    const io::Fd wait(ends[0]);
    io::Fd placed(ends[1]);
    prepared.placed = placed.get();

    // No signal may run a handler in the child while it still shares this process's memory.
    sigset_t all, before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = shares ? ::vfork() : fork_into(plan.entrance.folder);
    if (pid == 0) run_child(prepared);
    const int error = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    if (pid < 0) return errno_failure("fork");
    placed.reset();
    char nobody = 0;
    while (wait && ::read(wait.get(), &nobody, 1) < 0 && errno == EINTR) {
    }
    return pid;
}

Result<ChildReport> receive_report(int socket) {
    SY_TRY(Packet packet, receive_packet(socket));
    ChildReport report;
    report.kind = static_cast<ChildReport::Kind>(packet.text[0]);
    report.text = packet.text.substr(1);
    if (report.kind != ChildReport::Kind::Files) return report;
    for (std::size_t i = 0; i < report.text.size() && i < packet.descriptors.size(); ++i) {
        io::Fd& place = report.text[i] == '1'   ? report.out
                        : report.text[i] == '2' ? report.err
                                                : report.messages;
        place = std::move(packet.descriptors[i]);
    }
    return report;
}

}  // namespace switchyard::os
