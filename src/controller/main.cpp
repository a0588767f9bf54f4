// main.cpp: slurmctld: options, the background, the log, signals, and the loop.
#include "controller/main.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include "base/version.hpp"
#include "config/config.hpp"
#include "controller/start/slurm_user.hpp"
#include "controller/start/start.hpp"
#include "io/fd.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::controller {
namespace {

struct Options {
    bool foreground = false;
    bool clear_state = false, restore = false;
    std::vector<JobId> to_quarantine, to_put_back;
    int verbose = 0;
    std::string config_path;
    bool show_version = false, show_help = false;
};

constexpr const char* kUsage =
    "Usage: slurmctld [-c|--restore] [-D] [-f file] [-h] [-v] [-V]\n"
    "       slurmctld --quarantine|--unquarantine JOB[,JOB...] [-f file]\n"
    "  -c       Start with an empty queue; the old state is moved aside\n"
    "  -D       Run in the foreground, log to standard error too\n"
    "  -f file  Use this configuration file\n"
    "  -h, --help     Print this and exit\n"
    "  -v       More in the log; twice for still more\n"
    "  -V, --version  Print the version and exit\n"
    "  --restore            Start from a backup that was put in the database's place\n"
    "  --quarantine JOBS    Set these jobs' records aside, and exit\n"
    "  --unquarantine JOBS  Put them back, and exit\n";

constexpr option kLongOptions[] = {{"help", no_argument, nullptr, 'h'},
                                   {"version", no_argument, nullptr, 'V'},
                                   {"restore", no_argument, nullptr, 'r'},
                                   {"quarantine", required_argument, nullptr, 'q'},
                                   {"unquarantine", required_argument, nullptr, 'u'},
                                   {nullptr, 0, nullptr, 0}};

Result<std::vector<JobId>> parse_jobs(std::string_view text) {
    std::vector<JobId> jobs;
    for (const std::string_view piece : split(text, ',')) {
        const auto id = parse_uint(trim(piece));
        if (!id || *id == 0 || *id > UINT32_MAX)
            return fail(Errc::InvalidArgument, fmt::format("{} is not the id of a job", piece));
        jobs.push_back(JobId{static_cast<std::uint32_t>(*id)});
    }
    return jobs;
}

Result<Options> parse(int argc, char** argv) {
    Options options;
    ::optind = 1;
    for (int letter;
         (letter = ::getopt_long(argc, argv, "+cDf:hvV", kLongOptions, nullptr)) != -1;) {
        switch (letter) {
            case 'c':
                options.clear_state = true;
                break;
            case 'r':
                options.restore = true;
                break;
            case 'q': {
                SY_TRY(options.to_quarantine, parse_jobs(::optarg));
                break;
            }
            case 'u': {
                SY_TRY(options.to_put_back, parse_jobs(::optarg));
                break;
            }
            case 'D':
                options.foreground = true;
                break;
            case 'f':
                options.config_path = ::optarg;
                break;
            case 'h':
                options.show_help = true;
                break;
            case 'v':
                ++options.verbose;
                break;
            case 'V':
                options.show_version = true;
                break;
            default:
                return fail(Errc::InvalidArgument, "invalid option");
        }
    }
    if (options.clear_state && options.restore)
        return fail(Errc::InvalidArgument, "-c and --restore exclude each other");
    if (::optind < argc) {
        return fail(Errc::InvalidArgument,
                    fmt::format("unrecognized argument: {}", argv[::optind]));
    }
    return options;
}

Result<config::Config> read_config(const Options& options) {
    std::string path = options.config_path;
    if (path.empty()) {
        SY_TRY(path, config::find_config_file());
    }
    return config::load_config(path);
}

// The parent waits until the child serves, so that `slurmctld && sbatch` works and a failure is
// seen.
class Background {
  public:
    // In the child: nothing. In the parent: its exit code.
    std::optional<int> enter() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
        io::Fd read_end(ends[0]);
        io::Fd write_end(ends[1]);
        const pid_t child = ::fork();
        if (child < 0) return 1;
        if (child > 0) {
            write_end.reset();
            char served = 0;
            if (::read(read_end.get(), &served, 1) == 1) return 0;
            int status = 0;
            ::waitpid(child, &status, 0);
            return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
        }
        ::setsid();
        told_ = std::move(write_end);
        return std::nullopt;
    }
    // The controller serves: let the parent go, and the terminal. A log that goes to standard error
    // keeps it.
    void serving(os::Log& log) {
        if (!told_) return;
        const io::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
        ::dup2(null.get(), STDIN_FILENO);
        ::dup2(null.get(), STDOUT_FILENO);
        log.take_stderr();
        if (::write(told_.get(), "1", 1) != 1) return;
        told_.reset();
    }

  private:
    io::Fd told_;
};

Status write_pid_file(const std::string& path) {
    if (path.empty()) return {};
    const io::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    const std::string text = fmt::format("{}\n", ::getpid());
    if (!file || ::write(file.get(), text.data(), text.size()) < 0) {
        return fail(Errc::Io,
                    fmt::format("cannot write the pid file {}: {}", path, std::strerror(errno)));
    }
    return {};
}

int serve(config::Config config, const Options& options, os::Log& log, Background& background) {
    io::Loop loop;
    ::signal(SIGPIPE, SIG_IGN);
    const std::string pid_file = config.controller_pid_file;
    const std::string cluster = config.cluster_name;
    const StartOptions start{
        .clear_state = options.clear_state, .restore = options.restore, .store = {}};
    tell_of_crashes(*start.what_now);
    const Watchdog watchdog(*start.what_now);
    auto controller = start_controller(loop, log, std::move(config), start);
    if (!controller) {
        log.error("fatal: {}", controller.error().message);
        return 1;
    }
    const auto stop = [&] { (*controller)->stop(); };
    const auto terminate = loop.on_signal(SIGTERM, stop);
    const auto interrupt = loop.on_signal(SIGINT, stop);
    const auto hang_up = loop.on_signal(SIGHUP, [&] {
        if (const Status opened = log.reopen(); !opened) log.error("{}", opened.error().message);
        // An error was logged and nothing has changed; there is nobody else to tell.
        const Status done = (*controller)->reconfigure(std::nullopt);
        if (!done) return;
    });
    const auto rotate = loop.on_signal(SIGUSR2, [&] {
        if (const Status opened = log.reopen(); !opened) log.error("{}", opened.error().message);
    });
    if (const Status written = write_pid_file(pid_file); !written)
        log.error("{}", written.error().message);
    log.info("slurmctld version {} started on cluster {}", kSlurmRelease, cluster);
    background.serving(log);
    loop.run();
    if (!pid_file.empty()) ::unlink(pid_file.c_str());
    return (*controller)->exit_code();
}

// Without a controller: it would have the jobs in memory.
int move_jobs(const config::Config& config, const Options& options) {
    auto store = store::open_sqlite(config.state_dir + "/switchyard.db", {.has_run_before = true});
    Status status = store ? Status() : Status(Failure{store.error()});
    for (const JobId job : options.to_quarantine) {
        if (status) status = (*store)->set_aside(job);
        if (status) std::printf("job %u is set aside\n", job.value);
    }
    for (const JobId job : options.to_put_back) {
        if (status) status = (*store)->put_back(job);
        if (status) std::printf("job %u is back\n", job.value);
    }
    if (status) return 0;
    std::fprintf(stderr, "slurmctld: fatal: %s\n", status.error().message.c_str());
    return 1;
}

}  // namespace

int controller_main(int argc, char** argv) {
    const auto options = parse(argc, argv);
    if (!options) {
        std::fprintf(stderr, "slurmctld: error: %s\n%s", options.error().message.c_str(), kUsage);
        return 1;
    }
    if (options->show_help) return std::fputs(kUsage, stdout), 0;
    if (options->show_version) return std::puts(std::string(kVersionLine).c_str()), 0;

    auto config = read_config(*options);
    if (!config) {
        std::fprintf(stderr, "slurmctld: fatal: %s\n", config.error().message.c_str());
        return 1;
    }
    if (const Status became = become_slurm_user(*config); !became) {
        std::fprintf(stderr, "slurmctld: fatal: %s\n", became.error().message.c_str());
        return 1;
    }
    if (!options->to_quarantine.empty() || !options->to_put_back.empty())
        return move_jobs(*config, *options);
    Background background;
    if (!options->foreground) {
        if (const auto code = background.enter()) return *code;
    }
    const auto level = options->verbose >= 2   ? os::Log::Level::Debug
                       : options->verbose == 1 ? os::Log::Level::Verbose
                                               : os::Log::Level::Info;
    os::Log log(level);
    if (const Status opened = log.open(config->controller_log, options->foreground); !opened) {
        std::fprintf(stderr, "slurmctld: fatal: %s\n", opened.error().message.c_str());
        return 1;
    }
    for (const config::Config::Notice& notice : config->notices)
        log.info("{}: {}", notice.where, notice.text);
    return serve(*std::move(config), *options, log, background);
}

}  // namespace switchyard::controller
