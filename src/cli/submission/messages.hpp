// messages.hpp: how sbatch, salloc and srun tell what went wrong, and what they understood: Slurm's
// words and exit codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

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
}  // namespace switchyard::cli
