#include "cli/submission/batch_environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/message.hpp"
#include "cli/submission/surroundings.hpp"
#include "cli/submission/variables.hpp"
#include "os/spawn.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

using options::Environment;
using options::ExportMode;

constexpr Seconds kLoginWait{8};  // Slurm's.
// Start-up files may print things; what we want comes behind this.
constexpr std::string_view kMark = "SWITCHYARD-LOGIN-ENVIRONMENT";

Environment from_nul_separated(std::string_view text) {
    Environment environment;
    for (const std::string_view entry : split(text, '\0')) {
        if (const auto mark = entry.find('='); mark != std::string_view::npos && mark > 0) {
            options::set_variable(environment, entry.substr(0, mark), entry.substr(mark + 1));
        }
    }
    return environment;
}

void add_all(Environment& to, const Environment& from) {
    for (const std::string& entry : from) {
        const auto mark = entry.find('=');
        if (mark == std::string::npos) continue;
        options::set_variable(to, std::string_view(entry).substr(0, mark),
                              std::string_view(entry).substr(mark + 1));
    }
}

Result<std::string> read_until_end(int fd, std::optional<Millis> wait) {
    const auto deadline = std::chrono::steady_clock::now() + wait.value_or(Millis{0});
    std::string text;
    char chunk[16384];
    while (true) {
        int left = -1;
        if (wait) {
            const auto rest =
                std::chrono::ceil<Millis>(deadline - std::chrono::steady_clock::now());
            left = static_cast<int>(std::max<std::int64_t>(rest.count(), 0));
        }
        pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
        const int polled = ::poll(&ready, 1, left);
        if (polled == 0) return fail(Errc::Timeout);
        const ssize_t got = ::read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(Errc::Io, std::strerror(errno));
        if (got == 0) return text;
        text.append(chunk, static_cast<std::size_t>(got));
        if (text.size() > limits::kEnvironmentBytesMax) return fail(Errc::Io, "too much of it");
    }
}

Result<Environment> environment_in_file(const std::string& name) {
    io::Fd file;
    const auto number = parse_uint(name);
    if (number && *number > 2 && *number < 65536) {
        file.reset(::fcntl(static_cast<int>(*number), F_DUPFD_CLOEXEC, 3));
    } else {
        file.reset(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    }
    if (!file) {
        return fail(Errc::InvalidArgument,
                    fmt::format("Could not open user environment file {}", name));
    }
    SY_TRY(const std::string text, read_until_end(file.get(), std::nullopt));
    return from_nul_separated(text);
}

struct LoginRequest {
    Seconds wait = kLoginWait;
    bool login = true;
};

// "10L": seconds, and whether it is a login shell (L) or a plain one (S).
LoginRequest parse_get_user_env(std::string_view text) {
    LoginRequest request;
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (const auto seconds = parse_uint(text.substr(0, end));
        seconds && *seconds > 0 && *seconds < 3600) {
        request.wait = Seconds{static_cast<std::int64_t>(*seconds)};
    }
    request.login = text.substr(end) != "S" && text.substr(end) != "s";
    return request;
}

// The login environment lies beneath what the caller exports. Without it the job still runs.
void put_login_environment_beneath(Environment& environment, const LoginRequest& request) {
    auto login = login_environment(request.wait, request.login);
    if (!login) {
        say("sbatch",
            "warning: unable to load the user's login environment: " + login.error().message);
        return;
    }
    add_all(*login, environment);
    environment = *std::move(login);
}

}  // namespace

Result<Environment> login_environment(Seconds wait, bool login) {
    SY_TRY(const os::User user, os::find_user(::getuid()));
    const std::string shell = user.shell.empty() ? "/bin/sh" : user.shell;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Errc::Io, std::strerror(errno));
    const io::Fd reading(ends[0]);
    io::Fd writing(ends[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    os::SpawnRequest spawn;
    spawn.path = shell;
    // A '-' before its name makes any shell a login shell.
    spawn.argv = {(login ? "-" : "") + base_name(shell), "-c",
                  fmt::format("printf '{}'; exec /usr/bin/env -0", kMark)};
    spawn.environment = {"HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name,
                         "SHELL=" + shell, "PATH=/usr/local/bin:/usr/bin:/bin"};
    spawn.descriptors = {{nothing.get(), 0}, {writing.get(), 1}, {nothing.get(), 2}};
    SY_TRY(const pid_t child, os::spawn(spawn));
    writing.reset();
    auto text = read_until_end(reading.get(), wait);
    if (!text) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!text) return Failure{text.error()};
    const auto mark = text->find(kMark);
    if (mark == std::string::npos) return fail(Errc::Io, fmt::format("{} did not run", shell));
    Environment environment =
        from_nul_separated(std::string_view(*text).substr(mark + kMark.size()));
    for (const std::string_view name : {"_", "SHLVL", "PWD", "OLDPWD"})
        options::unset_variable(environment, name);
    return environment;
}

Result<Environment> batch_environment(const options::JobRequest& request,
                                      options::Surroundings surroundings) {
    const bool from_file = request.ask.export_file.has_value();
    const std::string list = request.ask.export_list.value_or(from_file ? "NIL" : "ALL");
    const ExportMode mode = options::export_mode(list);

    Environment environment =
        options::exported(environment_for_a_new_job(std::move(surroundings.environment)), list);
    if (from_file) {
        SY_TRY(const Environment file, environment_in_file(*request.ask.export_file));
        add_all(environment, file);
    }
    const bool exports_all = mode == ExportMode::All || starts_with_ignoring_case(list, "ALL,");
    if (mode == ExportMode::None || (mode == ExportMode::Some && !exports_all)) {
        put_login_environment_beneath(environment, {});
    } else if (request.ask.get_user_env && mode != ExportMode::Nil) {
        put_login_environment_beneath(environment, parse_get_user_env(*request.ask.get_user_env));
    }
    if (request.ask.export_list) options::set_variable(environment, "SLURM_EXPORT_ENV", list);
    if (mode == ExportMode::None || mode == ExportMode::Some || request.ask.get_user_env)
        options::set_variable(environment, "SLURM_GET_USER_ENV", "1");
    // The nodes know only what --gres and --gpus-per-node come to together.
    if (const auto given = request.shown.find("gpus-per-node"); given != request.shown.end()) {
        options::set_variable(environment, "SLURM_GPUS_PER_NODE", given->second);
    }
    if (!request.launch.mem_bind.empty()) {
        options::set_variable(environment, "SBATCH_MEM_BIND", request.launch.mem_bind);
        options::set_variable(environment, "SLURM_MEM_BIND", request.launch.mem_bind);
    }
    if (const auto hint = request.shown.find("hint"); hint != request.shown.end())
        options::set_variable(environment, "SLURM_HINT", hint->second);
    Variables told(environment);
    set_frequency(told, request);
    options::set_variable(environment, "SLURM_PRIO_PROCESS",
                          fmt::to_string(::getpriority(PRIO_PROCESS, 0)));
    options::set_variable(environment, "SLURM_SUBMIT_DIR", surroundings.work_dir);
    options::set_variable(environment, "SLURM_SUBMIT_HOST", short_host_name());

    std::size_t bytes = 0;
    for (const std::string& entry : environment) bytes += entry.size() + 1;
    if (bytes > limits::kEnvironmentBytesMax) {
        return fail(Errc::InvalidArgument,
                    fmt::format("the environment has {} bytes; at most {} are allowed", bytes,
                                limits::kEnvironmentBytesMax));
    }
    return environment;
}

}  // namespace switchyard::cli
