#include "cli/submit/common.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"
#include "cli/message.hpp"
#include "options/help.hpp"
#include "os/users.hpp"

extern char** environ;

namespace switchyard::cli::submit {
namespace {

using options::Command;
using options::Fault;

std::string_view failure_words(Command command) {
    switch (command) {
        case Command::Sbatch:
            return "Batch job submission failed";
        case Command::Salloc:
            return "Job submit/allocate failed";
        case Command::Srun:
            return "Unable to allocate resources";
    }
    return "";
}

int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return otherwise;
    const auto number = parse_int(text);
    if (number && *number != 0 && *number > -256 && *number < 256) return static_cast<int>(*number);
    return otherwise;
}

std::string current_folder() {
    char path[PATH_MAX];
    return ::getcwd(path, sizeof path) != nullptr ? path : "/tmp";
}

struct LimitName {
    int resource;
    std::string_view name;
};
constexpr LimitName kLimits[] = {
    {RLIMIT_AS, "AS"},         {RLIMIT_CORE, "CORE"},   {RLIMIT_CPU, "CPU"},
    {RLIMIT_DATA, "DATA"},     {RLIMIT_FSIZE, "FSIZE"}, {RLIMIT_MEMLOCK, "MEMLOCK"},
    {RLIMIT_NOFILE, "NOFILE"}, {RLIMIT_NPROC, "NPROC"}, {RLIMIT_RSS, "RSS"},
    {RLIMIT_STACK, "STACK"},
};

bool lists(std::string_view names, std::string_view limit) {
    for (std::string_view name : split(names, ',')) {
        name = trim(name);
        if (starts_with_ignoring_case(name, "RLIMIT_")) name.remove_prefix(7);
        if (equals_ignoring_case(name, "ALL") || equals_ignoring_case(name, limit)) return true;
    }
    return false;
}

}  // namespace

void open_standard_streams() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
}

options::Surroundings look_around() {
    options::Surroundings world;
    world.now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    world.work_dir = current_folder();
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    world.environment.assign(environ, environ + count);
    world.is_root = ::geteuid() == 0;
    return world;
}

std::vector<std::string> words_of(int argc, char** argv, Command command) {
    std::vector<std::string> words(argv, argv + argc);
    if (!words.empty()) words.front() = to_string(command);
    return words;
}

int error_exit_code() { return number_from("SLURM_EXIT_ERROR", 1); }
int immediate_exit_code() { return number_from("SLURM_EXIT_IMMEDIATE", error_exit_code()); }

int complain(Command command, const Fault& fault) {
    const std::string_view program = to_string(command);
    switch (fault.kind) {
        case Fault::Kind::Unrecognized:
            say_try_help(program);
            break;
        case Fault::Kind::Refused:
            say_error(program, fmt::format("{}: {}", failure_words(command), fault.text));
            break;
        default:
            // What Slurm calls fatal is so called in the text.
            for (const std::string_view line : split(fault.text, '\n')) {
                if (line.starts_with("fatal: ")) {
                    say(program, line);
                } else {
                    say_error(program, line);
                }
            }
    }
    const int code = exit_code(fault);
    return code == 1 ? error_exit_code() : code;
}

int submission_failed(Command command, const Error& error, const std::vector<std::string>& notes) {
    const std::string_view program = to_string(command);
    for (const std::string& note : notes) say_error(program, note);
    // Slurm's commands see these themselves, before they submit.
    if (error.code == Errc::InvalidGres || error.code == Errc::NotFound) {
        say_error(program, error.message);
    } else {
        say_error(program, fmt::format("{}: {}", failure_words(command), error.message));
    }
    return error.code == Errc::ImmediateFailed ? immediate_exit_code() : error_exit_code();
}

void inform(const options::JobRequest& request, std::string_view text) {
    if (request.ask.quiet == 0) say(to_string(request.command), text);
}

void explain(const options::JobRequest& request, std::string_view text) {
    if (request.ask.verbose > 0) say(to_string(request.command), text);
}

void say_what_was_understood(const options::JobRequest& request) {
    const std::string_view program = to_string(request.command);
    for (const std::string& warning : request.warnings) say(program, "warning: " + warning);
    if (request.ask.verbose == 0) return;
    for (const std::string& line : defined_options(request)) say(program, line);
}

namespace {

Result<std::string> gres_help() {
    SY_TRY(const std::string path, config::find_config_file());
    SY_TRY(const config::Config config, config::load_config(path));
    std::string text = "Valid gres options are:\n";
    for (const std::string& name : config.gres_types) text += name + "[[:type]:count]\n";
    return text;
}

}  // namespace

std::optional<int> answered_help(const options::JobRequest& request) {
    std::string text;
    if (request.ask.help) text = help_text(request.command);
    if (request.ask.usage) text = usage_text(request.command);
    if (request.ask.version) text = std::string(kVersionLine) + "\n";
    if (request.ask.show_hints) {
        text =
            "Application hints:\n"
            "    --hint=compute_bound  use all cores of each socket\n"
            "    --hint=multithread    use all threads of each core\n"
            "    --hint=nomultithread  use one thread of each core\n";
    }
    if (request.ask.show_gres) {
        auto gres = gres_help();
        if (!gres) {
            say_error(to_string(request.command), gres.error().message);
            return error_exit_code();
        }
        text = *std::move(gres);
    }
    if (text.empty()) return std::nullopt;
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

std::string short_host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    const std::string_view whole(name);
    return std::string(whole.substr(0, whole.find('.')));
}

void fill_origin(model::JobSpec& job, const std::vector<std::string>& words, bool names) {
    job.uid = ::getuid();
    job.gid = ::getgid();
    if (names) {
        job.user = os::user_name(job.uid);
        job.group = os::group_name(job.gid);
    }
    job.submit_host = short_host_name();
    job.submit_line = join(words, " ");
    job.alloc_sid = static_cast<std::uint32_t>(::getsid(0));
}

namespace {

Result<gid_t> find_group(const std::string& text) {
    if (const auto number = parse_uint(text); number && *number < 0xffffffffu)
        return static_cast<gid_t>(*number);
    const auto found = os::find_group(text);
    if (!found) return fail(Errc::InvalidArgument, "Invalid --gid specification");
    return *found;
}

}  // namespace

Status take_identity(const options::JobRequest& request) {
    const options::CommandSettings& ask = request.ask;
    if (ask.uid_name.empty() && ask.gid_name.empty()) return {};
    os::Identity who;
    who.gid = ::getgid();
    std::string name = os::user_name(0);
    if (!ask.uid_name.empty()) {
        const auto number = parse_uint(ask.uid_name);
        const auto user = number && *number < 0xffffffffu
                              ? os::find_user(static_cast<uid_t>(*number))
                              : os::find_user(ask.uid_name);
        if (!user) return fail(Errc::InvalidArgument, "Invalid --uid specification");
        who.uid = user->uid;
        who.gid = user->gid;
        name = user->name;
    }
    if (!ask.gid_name.empty()) {
        SY_TRY(who.gid, find_group(ask.gid_name));
    }
    who.groups = os::groups_of(name, who.gid);
    if (!os::become(who))
        return fail(Errc::AccessDenied, fmt::format("cannot become uid {} gid {}: {}", who.uid,
                                                    who.gid, std::strerror(errno)));
    return {};
}

std::uint32_t umask_to_hand_on() {
    if (const char* text = std::getenv("SLURM_UMASK")) {
        char* end = nullptr;
        const unsigned long mask = std::strtoul(text, &end, 8);
        if (end != text && *end == '\0' && mask <= 0777) return static_cast<std::uint32_t>(mask);
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}

std::vector<model::ResourceLimit> limits_to_hand_on(const options::JobRequest& request,
                                                    const config::Config& config) {
    const std::string names = request.ask.propagate.value_or(config.propagate_limits);
    const bool by_site = !request.ask.propagate;
    std::vector<model::ResourceLimit> limits;
    for (const LimitName& each : kLimits) {
        if (!lists(names, each.name)) continue;
        if (by_site && lists(config.propagate_limits_except, each.name)) continue;
        rlimit limit{};
        if (::getrlimit(static_cast<__rlimit_resource_t>(each.resource), &limit) != 0) continue;
        limits.push_back({each.resource, limit.rlim_cur, limit.rlim_max});
    }
    return limits;
}

options::Environment environment_for_a_new_job(options::Environment environment) {
    if (!options::get_variable(environment, "SLURM_JOB_ID").empty())
        options::remove_job_description(environment);
    return environment;
}

std::string base_name(std::string_view path) {
    const auto slash = path.find_last_of('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace switchyard::cli::submit
