// job_line.hpp: the jobs of a long list, one after the other in the same memory. What waits is most
// of it, and is read straight from its bytes; everything else goes the way of all messages
// (codec.hpp).
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "model/job.hpp"

namespace switchyard::wire {

class JobLine {
  public:
    JobLine();
    // The job, until the next one is read. Errors as of decode().
    Result<const model::Job*> read(std::string_view bytes);

  private:
    // False: there is something in it that only decode() knows.
    bool read_waiting(std::string_view bytes);
    bool read_spec(std::string_view bytes);
    bool read_pending(std::string_view bytes);

    std::shared_ptr<model::JobSpec> spec_;
    model::Job waiting_, other_;
};

}  // namespace switchyard::wire
