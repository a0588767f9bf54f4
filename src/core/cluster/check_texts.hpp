// check_texts.hpp: texts of requests have limits with names (base/limits.hpp), whoever sends them.
// Nothing is cut but the line a job was submitted with, which is shown and nothing else; the error
// says which text it was, and its limit.
#pragma once

#include "base/limits.hpp"
#include "base/result.hpp"
#include "model/job_spec.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "model/update.hpp"

namespace switchyard::core {

// Names in one list: of nodes there are not more.
inline constexpr std::size_t kNamesPerListMax = limits::kNodesMax;

Status check_texts(const model::JobSpec& spec);
Status check_texts(const model::StepSpec& spec);
Status check_texts(const model::JobUpdate& update);
Status check_texts(const model::NodeUpdate& update);
Status check_texts(const model::PartitionUpdate& update);
Status check_texts(const model::ReservationUpdate& update);
Status check_texts(const model::Trigger& trigger);
// Of administrators about jobs and nodes, and notices to jobs.
Status check_comment(std::string_view text, std::string_view what);

// A list of addresses: each is one word and no option.
Status check_mail_user(std::string_view text);

void cut_submit_line(std::string& line);

}  // namespace switchyard::core
