// job_request.hpp: all that sbatch, salloc and srun can be told, as one value: the job they ask
// for, how its tasks are launched, and how the command itself behaves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/job_spec.hpp"
#include "model/step.hpp"

namespace switchyard::options {

enum class Command : std::uint8_t { Sbatch = 1, Salloc = 2, Srun = 4 };
std::string_view to_string(Command command);  // "sbatch"

// Where a value came from. A later source overrides an earlier one.
enum class Source : std::uint8_t { Script = 0, Environment = 1, CommandLine = 2 };

// How srun starts its tasks.
struct LaunchSettings {
    std::string std_in, std_out,
        std_err;  // As given: "none", "all", a task number or a file pattern.
    bool label = false, unbuffered = false, pty = false, multi_prog = false;
    std::optional<bool> kill_on_bad_exit;
    std::optional<std::uint32_t>
        wait_seconds;  // -W: how long tasks may run after the first one ended.
    std::string cpu_bind, mem_bind, mpi;
    std::string level_bind;  // "threads": what an option about cores and threads binds tasks to.
    std::optional<std::uint32_t> resv_ports;  // How many; 0: as many as a node has tasks.
    std::string prolog, epilog;               // Run by srun itself.
    std::string task_prolog, task_epilog;     // Run by every task.
    bool wait_for_children = false;
    std::optional<std::string>
        bcast;  // Where the program is copied to; empty: a place of our choice.
    std::optional<bool> send_libs;
    std::optional<std::string> bcast_exclude;
    std::string het_group;  // "0,2-3": the components of the job around it that it runs in.
    bool disable_status = false, quit_on_interrupt = false, external_launcher = false;
    bool overlap = false, exact = false, interactive = false;
    std::vector<int> ignored_signals;  // Of those sent to srun itself.
    bool async = false;                // srun leaves when the tasks have started.
    std::optional<std::uint32_t> relative;
};

// How the command itself behaves.
struct CommandSettings {
    std::uint32_t verbose = 0, quiet = 0;
    bool help = false, usage = false, version = false;
    bool show_hints = false, show_gres = false;  // --hint=help, --gres=help
    bool parsable = false, wait = false, test_only = false, ignore_pbs = false;
    std::optional<std::string> wrap, export_list, export_file, get_user_env, propagate, clusters;
    bool no_shell = false;
    std::optional<bool> bell;
    std::optional<int>
        kill_signal;  // salloc -K: what the command gets when the allocation is revoked.
    std::optional<std::uint32_t> immediate_seconds;
    std::optional<JobId> job_id;
    std::optional<bool> wait_all_nodes;
    // --uid, --gid: root submits for somebody else.
    std::string uid_name, gid_name;  // As given; the command looks them up.
};

struct JobRequest {
    Command command = Command::Sbatch;
    model::JobSpec job;
    LaunchSettings launch;
    CommandSettings ask;

    // Parts that several options write; finish() puts them together.
    std::optional<std::string> gres, gpus_per_node, chdir;
    std::vector<std::string> task_nodes;  // --distribution=arbitrary: a node for every task.
    bool exclusive = false;  // Of srun inside a job it means something else: see step_spec().

    std::map<std::string, Source, std::less<>> given;       // By long option name.
    std::map<std::string, std::string, std::less<>> shown;  // What -v lists, by long option name.
    std::vector<std::string> warnings;  // To be printed before anything else happens.
    std::vector<std::string> notes;     // Likewise, without a word before them.

    bool was_given(std::string_view option) const { return given.contains(option); }
    bool given_on_command_line(std::string_view option) const {
        const auto found = given.find(option);
        return found != given.end() && found->second == Source::CommandLine;
    }
};

// Something the user got wrong, with Slurm's words and exit code for it.
struct Fault {
    enum class Kind : std::uint8_t {
        Unrecognized,  // getopt has said what; followed by 'Try "sbatch --help" ...'. Exit code
                       // 255.
        BadValue,      // Exit code 255.
        BadNumber,     // Exit code 1.
        Refused,  // A value that Slurm leaves to its controller: told as a failed submission. Exit
                  // code 1.
        Fatal,    // Anything else. Exit code 1.
    };
    Kind kind = Kind::BadValue;
    std::string text;
    bool operator==(const Fault&) const = default;
};
int exit_code(const Fault& fault);
using Outcome = std::optional<Fault>;  // None: all is well.

// What parsing may know of the world. Tests give their own.
struct Surroundings {
    Instant now{};
    std::string work_dir;
    std::vector<std::string> environment;  // "K=V"
    bool is_root = false;

    std::optional<std::string> variable(std::string_view name) const;
};

}  // namespace switchyard::options
