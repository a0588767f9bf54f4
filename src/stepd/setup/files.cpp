// files.cpp: the script of a batch job, and the files that it reads and writes.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/beneath.hpp"
#include "os/files.hpp"
#include "stepd/output_files.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

constexpr const char* kScriptName = "slurm_script";
constexpr mode_t kScriptFolderMode = 0711;

}  // namespace

// The script is the user's, its folder is ours: nothing else can be put there, nor the script be
// swapped.
Status write_script(Step& step) {
    const Launch& launch = step.launch;
    if (!launch.is_batch()) return {};
    step.script_folder = fmt::format("{}/job{}.{}", launch.setup.spool, launch.key.job.value,
                                     launch.key.attempt.value);
    const char* const path = step.script_folder.c_str();
    if (::mkdir(path, kScriptFolderMode) != 0) {
        if (errno != EEXIST) return os::errno_failure(step.script_folder);
        // Of a launch that was cut off.
        SY_CHECK(os::remove_tree(step.script_folder));
        if (::mkdir(path, kScriptFolderMode) != 0) return os::errno_failure(step.script_folder);
    }
    SY_TRY(const io::Fd folder, os::open_folder(step.script_folder));
    SY_CHECK(os::write_file_in(folder.get(), kScriptName, launch.payload.script, 0700, launch.who));
    step.script = fmt::format("{}/{}", step.script_folder, kScriptName);
    return {};
}

// Usually there is nothing in its folder but the script.
void remove_script(const Step& step) {
    if (step.script_folder.empty()) return;
    ::unlink(step.script.c_str());
    if (::rmdir(step.script_folder.c_str()) != 0) (void)os::remove_tree(step.script_folder);
}

Status open_batch_files(Step& step, std::uint32_t, os::ChildPlan& plan) {
    const Launch& launch = step.launch;
    if (!launch.is_batch()) return {};
    const model::JobSpec& spec = *launch.job.spec;
    const model::PatternFacts facts = pattern_facts(launch, std::nullopt);
    const std::string out = spec.std_out.empty() ? default_output_pattern(launch) : spec.std_out;
    const Opening opening =
        spec.open_mode == model::OpenMode::Append ? Opening::Append : Opening::Anew;
    plan.files[1] = output_file(launch, out, facts, opening);
    plan.error_with_output = spec.std_err.empty() || spec.std_err == out;
    if (!plan.error_with_output) plan.files[2] = output_file(launch, spec.std_err, facts, opening);
    if (!spec.std_in.empty()) plan.files[0] = input_file(spec.std_in, facts);
    return {};
}

}  // namespace switchyard::stepd::setup
