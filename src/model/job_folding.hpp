// job_folding.hpp: a job as a handful of bytes, for as long as nobody looks at it. What a job holds
// in memory is some kilobytes, most of it fields that were never set; what it says is a few hundred
// bytes. The form is the shell's to choose: it gives the one in which it writes and sends jobs.
#pragma once

#include <string>
#include <string_view>

#include "model/job.hpp"

namespace switchyard::model {

class JobFolding {
  public:
    virtual ~JobFolding() = default;
    // Into `to`, whose old content is gone; a caller folds many and keeps the room.
    virtual void fold(const Job& job, std::string& to) const = 0;
    // Exactly the job that was folded.
    virtual Job unfold(std::string_view folded) const = 0;
};

}  // namespace switchyard::model
