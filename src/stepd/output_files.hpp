// output_files.hpp: the files a step reads and writes.
#pragma once

#include <optional>
#include <string>

#include "model/output_pattern.hpp"
#include "os/child.hpp"
#include "stepd/launch.hpp"

namespace switchyard::stepd {

// What the pattern letters stand for. `task`: a global rank, none for the batch script.
model::PatternFacts pattern_facts(const Launch& launch, std::optional<std::uint32_t> task);

// Where the step works. If the user cannot go there, its tasks go to /tmp and say so.
std::string work_dir(const Launch& launch);

// How the task of this place on the node opens a file that srun's -o or -e named, so that what it
// held before goes, and nothing that another task of the step has written.
enum class Opening {
    Anew,
    Append,
    AnewIfOlder,  // Other nodes open it too: it is made anew by the first that finds it as it was.
};
Opening opening_of(const Launch& launch, const std::string& pattern, std::size_t local);

// Relative names start in the folder where the task is. The task opens them, as the user.
os::ChildFile output_file(const Launch& launch, const std::string& pattern,
                          const model::PatternFacts& facts, Opening opening);
os::ChildFile input_file(const std::string& pattern, const model::PatternFacts& facts);

// The pattern of a batch job's standard output when none was given.
std::string default_output_pattern(const Launch& launch);

}  // namespace switchyard::stepd
