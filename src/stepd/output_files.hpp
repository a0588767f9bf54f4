// output_files.hpp: the files a step reads and writes, opened with the user's rights.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "model/output_pattern.hpp"
#include "stepd/launch.hpp"

namespace switchyard::stepd {

// What the pattern letters stand for. `task`: a global rank, none for the batch script.
model::PatternFacts pattern_facts(const Launch& launch, std::optional<std::uint32_t> task);

// Where the step works: its own folder, or /tmp if the user cannot go there; then `complaint` says
// why.
struct WorkDir {
    std::string path;
    std::string complaint;
};
WorkDir find_work_dir(const Launch& launch);

// How the task of this place on the node opens a file that srun's -o or -e named, so that what it
// held before goes, and nothing that another task of the step has written.
enum class Opening {
    Anew,
    Append,
    AnewIfOlder,  // Other nodes open it too: it is made anew by the first that finds it as it was.
};
Opening opening_of(const Launch& launch, const std::string& pattern, std::size_t local);

// Relative names start in the folder. The error's text is for the agent's log and the controller.
Result<io::Fd> open_output(const Launch& launch, const std::string& pattern,
                           const model::PatternFacts& facts, const std::string& folder,
                           Opening opening);
Result<io::Fd> open_input(const Launch& launch, const std::string& pattern,
                          const model::PatternFacts& facts, const std::string& folder);

// The pattern of a batch job's standard output when none was given.
std::string default_output_pattern(const Launch& launch);

}  // namespace switchyard::stepd
