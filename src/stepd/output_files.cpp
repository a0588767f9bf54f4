#include "stepd/output_files.hpp"

#include <fcntl.h>

namespace switchyard::stepd {
namespace {

// Clocks of hosts differ a little: what was written just before the step began may be its own.
constexpr Millis kClocksDiffer{1000};

}  // namespace

Opening opening_of(const Launch& launch, const std::string& pattern, std::size_t local) {
    if (launch.command.open_mode == model::OpenMode::Append) return Opening::Append;
    if (model::is_per_task(pattern)) return Opening::Anew;
    if (local > 0) return Opening::Append;
    const bool alone = launch.layout.nodes.size() == 1 && !launch.het;
    return alone || model::is_per_node(pattern) ? Opening::Anew : Opening::AnewIfOlder;
}

model::PatternFacts pattern_facts(const Launch& launch, std::optional<std::uint32_t> task) {
    model::PatternFacts facts;
    facts.job = launch.job.id;
    if (launch.job.array) {
        facts.array_job = launch.job.array->array_id;
        facts.element = launch.job.array->element;
    }
    facts.job_name = launch.job.spec->name;
    facts.user = launch.user;
    facts.node = launch.node.substr(0, launch.node.find('.'));
    facts.node_index = launch.node_index;
    if (!launch.is_batch()) facts.step = launch.key.step;
    facts.task = task;
    return facts;
}

std::string work_dir(const Launch& launch) {
    const std::string& of_job = launch.job.spec->work_dir;
    const std::string& own = launch.is_batch() ? of_job : launch.command.work_dir;
    if (!own.empty()) return own;
    return of_job.empty() ? "/tmp" : of_job;
}

os::ChildFile output_file(const Launch& launch, const std::string& pattern,
                          const model::PatternFacts& facts, Opening opening) {
    os::ChildFile file;
    file.path = model::expand_pattern(pattern, facts);
    file.flags = O_WRONLY | O_CREAT | O_APPEND;
    if (opening == Opening::Anew) file.flags |= O_TRUNC;
    if (opening == Opening::AnewIfOlder) file.anew_if_older = launch.started - kClocksDiffer;
    return file;
}

os::ChildFile input_file(const std::string& pattern, const model::PatternFacts& facts) {
    os::ChildFile file;
    file.path = model::expand_pattern(pattern, facts);
    file.flags = O_RDONLY;
    return file;
}

std::string default_output_pattern(const Launch& launch) {
    return launch.job.array && launch.job.array->element ? "slurm-%A_%a.out" : "slurm-%j.out";
}

}  // namespace switchyard::stepd
