// check_values.hpp: numbers and times of requests are what a command would have let through, also
// when no command sent them. Behind these checks sums and products of them do not overflow.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/job_spec.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "model/update.hpp"

namespace switchyard::core {

// So that no sum or product of them overflows.
inline constexpr std::uint64_t kGresCountMax = 1u << 24;
inline constexpr std::size_t kGresTermsMax = 64;
inline constexpr std::uint64_t kMemoryMiBMax = std::uint64_t{1} << 32;
inline constexpr std::size_t kDependencyTermsMax = 1024;

// Before the end of the year 9999, and not before 1970: what can be written and read again.
bool is_date(Instant at);

// What may be said twice is said once; what only operators may ask for is left out for others, as
// Slurm does.
void tidy(model::JobSpec& spec, bool may_raise_priority);
void tidy(model::StepSpec& spec);
void drop_repeated(std::vector<std::string>& names);

Status check_values(const model::JobSpec& spec);
Status check_values(const model::StepSpec& spec);
Status check_values(const model::JobUpdate& update);
Status check_values(const model::NodeUpdate& update);
Status check_values(const model::ReservationUpdate& update);
Status check_values(const model::Trigger& trigger);

}  // namespace switchyard::core
