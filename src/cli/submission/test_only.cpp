#include "cli/submission/test_only.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "cli/message.hpp"
#include "cli/submission/messages.hpp"
#include "model/hostlist.hpp"
#include "model/time_format.hpp"
#include "wire/codec.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

using options::Command;
using options::JobRequest;

std::string start_of(const wire::WouldStartReply& answer) {
    return model::format_instant(Instant{Millis{answer.start()}});
}

std::string one_start(const wire::WouldStartReply& answer, std::size_t offset) {
    return fmt::format("Job {} to start at {} a using {} processors on nodes {} in partition {}",
                       answer.job() + offset, start_of(answer), answer.cpus(),
                       model::compress_hostlist({answer.nodes().begin(), answer.nodes().end()}),
                       answer.partition());
}

std::string common_start(const std::vector<wire::WouldStartReply>& answers) {
    const auto& latest = *std::ranges::max_element(
        answers, {}, [](const wire::WouldStartReply& each) { return each.start(); });
    std::uint64_t cpus = 0;
    std::set<std::string> nodes;
    for (const wire::WouldStartReply& each : answers) {
        cpus += each.cpus();
        nodes.insert(each.nodes().begin(), each.nodes().end());
    }
    return fmt::format("Job {} to start at {} using {} processors on {}", answers.front().job(),
                       start_of(latest), cpus,
                       model::compress_hostlist({nodes.begin(), nodes.end()}));
}

}  // namespace

int tell_starts(Command command, const std::vector<const JobRequest*>& components,
                const Asking& asking) {
    const std::string_view program = to_string(command);
    std::vector<wire::WouldStartReply> answers;
    for (const JobRequest* component : components) {
        wire::Request request;
        wire::encode(component->job, request.mutable_submit()->mutable_spec());
        request.mutable_submit()->set_test_only(true);
        const auto reply = asking.call(request);
        if (!reply || !reply->has_would_start()) {
            for (const std::string& note : asking.notes()) say_error(program, note);
            // Slurm's commands give no name of theirs here.
            const std::string why = reply ? "unexpected answer" : reply.error().message;
            std::fputs(fmt::format("allocation failure: {}\n", why).c_str(), stderr);
            return error_exit_code();
        }
        answers.push_back(reply->would_start());
        if (command == Command::Srun || components.size() == 1)
            say(program, one_start(answers.back(), answers.size() - 1));
    }
    if (command != Command::Srun && answers.size() > 1) say(program, common_start(answers));
    return 0;
}

}  // namespace switchyard::cli
