// variables.hpp: what commands tell of a request in the environment of what they start.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

class Variables {
  public:
    explicit Variables(options::Environment& environment, std::string tail = {})
        : environment_(environment), tail_(std::move(tail)) {}
    void set(std::string_view name, std::string_view value);
    void set_if(std::string_view name, const std::string& value);
    void set_if(std::string_view name, const std::optional<std::uint32_t>& value);
    bool has(std::string_view name) const;

  private:
    options::Environment& environment_;
    std::string tail_;  // "_HET_GROUP_1" where components are described one by one.
};

void set_memory(Variables& out, const model::MemoryRequest& memory);
// --cpu-freq, in the words by which it is told on.
void set_frequency(Variables& out, const options::JobRequest& request);

}  // namespace switchyard::cli
