// table_run.cpp: what runs and what happens around it: name, files, environment, mail, signals; and
// how the command itself behaves.
#include <algorithm>

#include <fmt/format.h>

#include "base/errc.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

using model::JobSpec;

// A file pattern. sbatch and salloc read "none" as no file; srun has more words, and sorts them out
// itself.
Outcome set_file(Setting& s, std::string JobSpec::* of_job,
                 std::string LaunchSettings::* of_launch) {
    if (s.request.command == Command::Srun) {
        s.request.launch.*of_launch = std::string(s.value);
        return {};
    }
    const bool none = equals_ignoring_case(s.value, "none");
    s.request.job.*of_job = none ? "/dev/null" : std::string(s.value);
    const std::string& path = s.request.job.*of_job;
    s.shown = path.starts_with('/') ? path : s.surroundings.work_dir + "/" + path;
    return {};
}
Outcome set_output(Setting& s) { return set_file(s, &JobSpec::std_out, &LaunchSettings::std_out); }
Outcome set_error(Setting& s) { return set_file(s, &JobSpec::std_err, &LaunchSettings::std_err); }
Outcome set_input(Setting& s) { return set_file(s, &JobSpec::std_in, &LaunchSettings::std_in); }

Outcome set_chdir(Setting& s) {
    if (s.value.empty()) return invalid_specification(s);
    s.request.chdir = s.value.starts_with('/')
                          ? std::string(s.value)
                          : s.surroundings.work_dir + "/" + std::string(s.value);
    s.shown = *s.request.chdir;
    return {};
}

Outcome set_open_mode(Setting& s) {
    const char first = s.value.empty() ? '\0' : s.value.front();
    if (first == 'a' || first == 'A') {
        s.request.job.open_mode = model::OpenMode::Append;
    } else if (first == 't' || first == 'T') {
        s.request.job.open_mode = model::OpenMode::Truncate;
    } else {
        return invalid_specification(s);
    }
    return {};
}

// Given twice in one place, as scripts do on two lines, the types add up.
Outcome set_mail_type(Setting& s) {
    const auto types = model::parse_mail_types(s.value);
    if (!types) return invalid_specification(s);
    const auto before = s.request.given.find("mail-type");
    const bool adds = before != s.request.given.end() && before->second == s.source && *types != 0;
    const model::MailTypes sum =
        adds ? static_cast<model::MailTypes>(s.request.job.mail_types | *types) : *types;
    s.request.job.mail_types = sum;
    s.shown = model::mail_types_to_string(sum);
    return {};
}

Outcome set_requeue(Setting& s) {
    if (s.has_value && s.value == "expedite") {
        s.request.warnings.emplace_back(
            "--requeue=expedite is treated as --requeue: expedited requeue is not "
            "supported");
    } else if (s.has_value && !s.value.empty()) {
        return invalid_specification(s);
    }
    s.request.job.requeue = true;
    s.shown = "requeue";
    return {};
}

Outcome set_no_requeue(Setting& s) {
    s.request.job.requeue = false;
    s.shown = "no-requeue";
    return {};
}

Outcome set_no_kill(Setting& s) {
    if (s.has_value && !s.value.empty() && s.value != "set" &&
        !equals_ignoring_case(s.value, "off") && !equals_ignoring_case(s.value, "no") &&
        parse_switch(s.value) != true) {
        return invalid_specification(s);
    }
    s.request.job.no_kill =
        !(equals_ignoring_case(s.value, "off") || equals_ignoring_case(s.value, "no"));
    s.shown = s.request.job.no_kill ? "set" : "unset";
    return {};
}

Outcome set_signal(Setting& s) {
    const auto signal = model::parse_warn_signal(s.value);
    if (!signal) return invalid_specification(s);
    s.request.job.warn_signal = *signal;
    s.shown = model::to_string(*signal);
    return {};
}

Outcome set_export(Setting& s) {
    if (s.value.empty()) return invalid_specification(s);
    s.request.ask.export_list = std::string(s.value);
    return {};
}

Outcome set_propagate(Setting& s) {
    constexpr std::string_view kNames[] = {"ALL",   "NONE",    "AS",     "CORE",  "CPU", "DATA",
                                           "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"};
    const std::string_view text = s.has_value && !s.value.empty() ? s.value : "ALL";
    for (std::string_view word : split(text, ',')) {
        if (starts_with_ignoring_case(word, "RLIMIT_")) word.remove_prefix(7);
        const bool known = std::ranges::any_of(
            kNames, [&](auto name) { return equals_ignoring_case(name, word); });
        if (!known) {
            return Fault{
                Fault::Kind::Fatal,
                fmt::format("Bad rlimit name: {}\n--propagate={} is not valid.", word, s.value)};
        }
    }
    s.request.ask.propagate = std::string(text);
    s.shown = std::string(text);
    return {};
}

Outcome set_get_user_env(Setting& s) {
    const auto digits = s.value.find_first_not_of("0123456789");
    const std::string_view mode = digits == std::string_view::npos ? "" : s.value.substr(digits);
    if (s.has_value && !mode.empty() && mode != "S" && mode != "L" && mode != "s" && mode != "l") {
        return invalid_specification(s);
    }
    s.request.ask.get_user_env = std::string(s.value);
    return {};
}

Outcome set_kill_command(Setting& s) {
    s.request.ask.kill_signal = 15;
    if (!s.has_value || s.value.empty()) return {};
    const auto signal = model::parse_signal(s.value);
    if (!signal) return invalid_specification(s);
    s.request.ask.kill_signal = *signal;
    return {};
}

// -v adds up; SBATCH_DEBUG=2 sets it.
template <auto Member>
Outcome count_up(Setting& s) {
    std::uint32_t& level = s.request.ask.*Member;
    level = s.has_value ? static_cast<std::uint32_t>(parse_uint(s.value).value_or(0)) : level + 1;
    s.shown = fmt::format("{}", level);
    return {};
}

Outcome set_verbose(Setting& s) { return count_up<&CommandSettings::verbose>(s); }
Outcome set_quiet(Setting& s) { return count_up<&CommandSettings::quiet>(s); }

Outcome set_uid(Setting& s) {
    if (!s.surroundings.is_root) return bad_value("--uid only permitted by root user");
    s.request.ask.uid_name = std::string(s.value);
    return {};
}

Outcome set_gid(Setting& s) {
    if (!s.surroundings.is_root) return bad_value("--gid only permitted by root user");
    s.request.ask.gid_name = std::string(s.value);
    return {};
}

Outcome set_wait_all_nodes(Setting& s) {
    const auto value = parse_uint(s.value);
    if (!value || *value > 1) return invalid_number(s);
    s.request.ask.wait_all_nodes = *value == 1;
    return {};
}

constexpr auto kRequired = Argument::Required;

constexpr Option kRun[] = {
    {.name = "job-name",
     .letter = 'J',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_JOB_NAME",
     .salloc_variables = "SALLOC_JOB_NAME",
     .srun_variables = "SLURM_JOB_NAME",
     .value_name = "jobname",
     .help = "name of the job",
     .set = store_text<&JobSpec::name>},
    {.name = "output",
     .letter = 'o',
     .argument = kRequired,
     .commands = kSbatch | kSrun,
     .sbatch_variables = "SBATCH_OUTPUT",
     .srun_variables = "SLURM_STDOUTMODE",
     .value_name = "out",
     .help = "file for standard output (%j job, %a element, %x name, %t task, %N node ...)",
     .set = set_output},
    {.name = "error",
     .letter = 'e',
     .argument = kRequired,
     .commands = kSbatch | kSrun,
     .sbatch_variables = "SBATCH_ERROR",
     .srun_variables = "SLURM_STDERRMODE",
     .value_name = "err",
     .help = "file for standard error; by default that of standard output",
     .set = set_error},
    {.name = "input",
     .letter = 'i',
     .argument = kRequired,
     .commands = kSbatch | kSrun,
     .sbatch_variables = "SBATCH_INPUT",
     .srun_variables = "SLURM_STDINMODE",
     .value_name = "in",
     .help = "file for standard input (srun: also all, none, or a task number)",
     .set = set_input},
    {.name = "open-mode",
     .argument = kRequired,
     .commands = kSbatch | kSrun,
     .sbatch_variables = "SBATCH_OPEN_MODE",
     .srun_variables = "SLURM_OPEN_MODE",
     .value_name = "append|truncate",
     .help = "what to do with an output file that exists",
     .set = set_open_mode},
    {.name = "chdir",
     .letter = 'D',
     .argument = kRequired,
     .srun_variables = "SLURM_REMOTE_CWD SLURM_WORKING_DIR",
     .value_name = "path",
     .help = "working directory of the job",
     .set = set_chdir},
    {.name = "comment",
     .argument = kRequired,
     .value_name = "text",
     .help = "a comment on the job",
     .set = store_text<&JobSpec::comment>},
    {.name = "extra",
     .argument = kRequired,
     .value_name = "text",
     .help = "an arbitrary string kept with the job",
     .set = store_text<&JobSpec::extra>},
    {.name = "wckey",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_WCKEY",
     .salloc_variables = "SALLOC_WCKEY",
     .srun_variables = "SLURM_WCKEY",
     .value_name = "wckey",
     .help = "workload characterization key",
     .set = store_text<&JobSpec::wckey>},
    {.name = "mail-type",
     .argument = kRequired,
     .value_name = "type",
     .help = "when to send mail (BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, ALL, NONE ...)",
     .set = set_mail_type},
    {.name = "mail-user",
     .argument = kRequired,
     .value_name = "user",
     .help = "who gets the mail",
     .set = store_text<&JobSpec::mail_user>},
    {.name = "requeue",
     .argument = Argument::Optional,
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_REQUEUE",
     .help = "if the node fails, let the job start again",
     .set = set_requeue},
    {.name = "no-requeue",
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_NO_REQUEUE",
     .help = "never start the job again",
     .set = set_no_requeue},
    {.name = "no-kill",
     .letter = 'k',
     .argument = Argument::Optional,
     .sbatch_variables = "SBATCH_NO_KILL",
     .salloc_variables = "SALLOC_NO_KILL",
     .srun_variables = "SLURM_NO_KILL",
     .value_name = "off",
     .help = "go on when a node of the job fails",
     .set = set_no_kill},
    {.name = "signal",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_SIGNAL",
     .salloc_variables = "SALLOC_SIGNAL",
     .srun_variables = "SLURM_SIGNAL",
     .value_name = "[B:]num[@time]",
     .help = "send a signal so many seconds before the time limit",
     .set = set_signal},
    {.name = "export",
     .argument = kRequired,
     .commands = kSbatch | kSrun,
     .sbatch_variables = "SBATCH_EXPORT",
     .srun_variables = "SLURM_EXPORT_ENV SRUN_EXPORT_ENV",
     .value_name = "ALL|NIL|NONE|names",
     .help = "environment variables to hand on",
     .set = set_export},
    {.name = "export-file",
     .argument = kRequired,
     .commands = kSbatch,
     .value_name = "file|fd",
     .help = "file or descriptor with environment variables to hand on",
     .set = store_text<&CommandSettings::export_file>},
    {.name = "get-user-env",
     .argument = Argument::Optional,
     .commands = kSbatch | kSalloc,
     .sbatch_variables = "SBATCH_GET_USER_ENV",
     .value_name = "timeout][mode",
     .help = "load the user's login environment",
     .set = set_get_user_env},
    {.name = "propagate",
     .argument = Argument::Optional,
     .commands = kSbatch | kSrun,
     .value_name = "rlimits",
     .help = "resource limits to hand on (ALL, NONE or names)",
     .set = set_propagate},
};

constexpr Option kCommand[] = {
    {.name = "wrap",
     .argument = kRequired,
     .commands = kSbatch,
     .value_name = "command",
     .help = "run this command in place of a script",
     .set = store_text<&CommandSettings::wrap>},
    {.name = "parsable",
     .commands = kSbatch | kSrun,
     .help = "print only the id of the job (and the cluster, if one was named); with srun "
             "--async, of the step",
     .set = store_flag<&CommandSettings::parsable>},
    {.name = "wait",
     .letter = 'W',
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_WAIT",
     .help = "do not exit until the job has ended",
     .set = store_flag<&CommandSettings::wait>},
    {.name = "test-only",
     .commands = kSbatch | kSrun,
     .help = "only say when the job would start",
     .set = store_flag<&CommandSettings::test_only>},
    {.name = "ignore-pbs",
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_IGNORE_PBS",
     .help = "ignore #PBS and #BSUB lines (they always are)",
     .set = store_flag<&CommandSettings::ignore_pbs>},
    {.name = "no-shell",
     .commands = kSalloc,
     .help = "allocate, run nothing, and leave the allocation",
     .set = store_flag<&JobSpec::detached>},
    {.name = "kill-command",
     .letter = 'K',
     .argument = Argument::Optional,
     .commands = kSalloc,
     .salloc_variables = "SALLOC_KILL_CMD",
     .value_name = "signal",
     .help = "signal for the command when the allocation is over",
     .set = set_kill_command},
    {.name = "bell",
     .commands = kSalloc,
     .salloc_variables = "SALLOC_BELL",
     .help = "ring the bell when the allocation is granted",
     .set = store_switch<&CommandSettings::bell>},
    {.name = "no-bell",
     .commands = kSalloc,
     .salloc_variables = "SALLOC_NO_BELL",
     .help = "never ring the bell",
     .set = store_flag<&CommandSettings::bell, false>},
    {.name = "wait-all-nodes",
     .argument = kRequired,
     .commands = kSbatch | kSalloc,
     .sbatch_variables = "SBATCH_WAIT_ALL_NODES",
     .salloc_variables = "SALLOC_WAIT_ALL_NODES",
     .value_name = "0|1",
     .help = "wait until all nodes are ready (they always are)",
     .set = set_wait_all_nodes},
    {.name = "clusters",
     .letter = 'M',
     .argument = kRequired,
     .sbatch_variables = "SLURM_CLUSTERS SBATCH_CLUSTERS",
     .salloc_variables = "SLURM_CLUSTERS SALLOC_CLUSTERS",
     .srun_variables = "SLURM_CLUSTERS",
     .value_name = "names",
     .help = "cluster to use; this one is the only one known",
     .set = store_text<&CommandSettings::clusters>},
    {.name = "uid",
     .argument = kRequired,
     .value_name = "user",
     .help = "submit and run as this user (root only)",
     .set = set_uid},
    {.name = "gid",
     .argument = kRequired,
     .value_name = "group",
     .help = "submit and run with this group (root only)",
     .set = set_gid},
    {.name = "quiet",
     .letter = 'Q',
     .group = Group::Help,
     .help = "quiet mode: no informational messages",
     .set = set_quiet},
    {.name = "verbose",
     .letter = 'v',
     .sbatch_variables = "SBATCH_DEBUG",
     .salloc_variables = "SALLOC_DEBUG",
     .srun_variables = "SLURM_DEBUG",
     .group = Group::Help,
     .help = "verbose mode; more of them, more verbose",
     .set = set_verbose},
    {.name = "help",
     .letter = 'h',
     .group = Group::Help,
     .help = "show this help message",
     .set = store_flag<&CommandSettings::help>},
    {.name = "usage",
     .group = Group::Help,
     .help = "show a brief usage message",
     .set = store_flag<&CommandSettings::usage>},
    {.name = "version",
     .letter = 'V',
     .group = Group::Help,
     .help = "show the version and exit",
     .set = store_flag<&CommandSettings::version>},
};

}  // namespace

std::span<const Option> run_options() { return kRun; }
std::span<const Option> command_options() { return kCommand; }

}  // namespace switchyard::options
