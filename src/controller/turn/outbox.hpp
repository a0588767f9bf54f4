// outbox.hpp: what goes out once a batch is on disk. Everything is encoded when the batch is made,
// from the very state that the batch writes; what happens while it is being written does not show
// in it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "controller/links/sessions.hpp"
#include "core/cluster/effect.hpp"

namespace switchyard::controller {

struct ToCaller {
    SessionId session;
    std::string frame;
    bool last = true;  // The request is answered.
    std::uint64_t request = 0;
    std::optional<JobId> submitted = {};  // It says that this job was taken in.
};

struct ToNode {
    std::string node;
    std::string frame;
    std::optional<JobId> job = {};  // It prepares this one.
};

// The launch of a batch step: all but the payload, which may have to be read back from the store
// first.
struct ToLaunch {
    std::string node;
    StepKey key;
    std::string launch;  // An encoded wire::LaunchStep without its payload.
    JobId payload;
};

// PrologSlurmctld or EpilogSlurmctld, with what it is told of the job.
struct ToProgram {
    core::effect::RunProgram order;
    std::vector<std::string> environment;
};

// A letter, and whose job it is about.
struct ToMail {
    core::effect::Mail mail;
    std::uint32_t uid = 0, gid = 0;
};

using Outgoing = std::variant<ToCaller, ToNode, ToLaunch, ToMail, core::effect::RunTrigger,
                              ToProgram, core::effect::StopProgram>;
using Outbox = std::vector<Outgoing>;

}  // namespace switchyard::controller
