// folded_job.hpp: what a list needs to know of a job that is folded (wire/job_folding.hpp), read
// from its bytes. Most jobs of a long list are never decoded here: the bytes in which they are kept
// are those that are sent, or those of them that were asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace switchyard::controller {

struct FoldedJob {
    bool pending = false, running = false, ended = false;
    bool in_array = false;
    std::string_view partition;
};
FoldedJob look_at_folded(std::string_view job);

// Appends, as that field of a message, who the job is and how it stands. What it asked for and what
// it holds is most of a record, and a program that waits for the end of its jobs reads none of it.
void append_state(std::string& out, std::uint32_t number, std::string_view job);
// And what squeue shows of it in the columns that it has unless told otherwise: where it runs or on
// how many nodes it will, since when, until when, why not yet. Which fields are kept of each form,
// model/job_fields.hpp says.
void append_line(std::string& out, std::uint32_t number, std::string_view job);

}  // namespace switchyard::controller
