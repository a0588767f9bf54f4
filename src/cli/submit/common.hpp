// common.hpp: what sbatch, salloc and srun do alike: look around, complain, say where they come
// from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/job_spec.hpp"
#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli::submit {

// Descriptors 0 to 2 are open, if only to /dev/null: nothing else of ours gets their numbers.
void open_standard_streams();
options::Surroundings look_around();
std::vector<std::string> words_of(int argc, char** argv, options::Command command);

// Exit code of an error of ours: SLURM_EXIT_ERROR, else 1. That of -I in vain:
// SLURM_EXIT_IMMEDIATE, else the same.
int error_exit_code();
int immediate_exit_code();

// Prints what the user got wrong; returns the exit code.
int complain(options::Command command, const options::Fault& fault);
// "sbatch: error: Batch job submission failed: ...", after the notes that came with it; returns the
// exit code.
int submission_failed(options::Command command, const Error& error,
                      const std::vector<std::string>& notes);
// An informational line, unless -Q.
void inform(const options::JobRequest& request, std::string_view text);
// A line for those who asked with -v.
void explain(const options::JobRequest& request, std::string_view text);
// Warnings, and the block of -v.
void say_what_was_understood(const options::JobRequest& request);
// --help, --usage, --version, --hint=help, --gres=help: prints it and returns the exit code;
// nullopt: nothing of that was asked.
std::optional<int> answered_help(const options::JobRequest& request);

// User, group, host, session and the line that was typed.
// `names`: look up those of user and group too; a controller that is asked directly does that
// itself.
void fill_origin(model::JobSpec& job, const std::vector<std::string>& words, bool names = true);
std::string short_host_name();

// --uid and --gid: from here on we are that user, so that the controller sees them.
Status take_identity(const options::JobRequest& request);

// SLURM_UMASK, else the umask of this process.
std::uint32_t umask_to_hand_on();
// By --propagate, else as the site has it.
std::vector<model::ResourceLimit> limits_to_hand_on(const options::JobRequest& request,
                                                    const config::Config& config);

// The caller's environment without what describes a job around it.
options::Environment environment_for_a_new_job(options::Environment environment);

std::string base_name(std::string_view path);

}  // namespace switchyard::cli::submit
