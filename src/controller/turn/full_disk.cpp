#include "controller/turn/full_disk.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "controller/links/replies.hpp"
#include "controller/turn/controller.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::controller {
namespace {

// Not Busy: sbatch would ask again for minutes, as it does where there are too many jobs.
constexpr Errc kNoRoom = Errc::Io;
constexpr const char* kNoSubmission =
    "The controller's disk is full: nothing can be submitted until there is room";
constexpr const char* kNoChange =
    "The controller's disk is full: nothing can be changed until there is room";

bool changes_records(wire::Request::BodyCase body) {
    using Body = wire::Request::BodyCase;
    switch (body) {
        case Body::kSubmit:
        case Body::kCreateStep:
        case Body::kSignal:
        case Body::kUpdateJob:
        case Body::kHold:
        case Body::kRequeue:
        case Body::kSuspend:
        case Body::kTop:
        case Body::kUpdateNode:
        case Body::kUpdatePartition:
        case Body::kCrontab:
        case Body::kReboot:
        case Body::kSetTriggers:
        case Body::kClearTriggers:
        case Body::kUpdateReservation:
            return true;
        default:
            return false;
    }
}

}  // namespace

Status may_take_in(bool disk_is_full, int body) {
    const auto kind = static_cast<wire::Request::BodyCase>(body);
    if (!disk_is_full || !changes_records(kind)) return {};
    const bool submits = kind == wire::Request::kSubmit || kind == wire::Request::kCrontab;
    return fail(kNoRoom, submits ? kNoSubmission : kNoChange);
}

// Submissions that came before the disk was found to be full. Their callers are told no; the jobs
// are taken out of what is to be written and out of what was to be launched, and end.
void Controller::refuse_unwritten() {
    std::ranges::move(cluster_->take_effects(), std::back_inserter(held_effects_));
    std::vector<Unwritten> refused;
    for (const Outgoing& outgoing : committing_outbox_) {
        const auto* reply = std::get_if<ToCaller>(&outgoing);
        if (reply != nullptr && reply->submitted)
            refused.push_back({reply->session, reply->request, *reply->submitted});
    }
    for (const core::Effect& effect : held_effects_) {
        const auto* reply = std::get_if<core::effect::Reply>(&effect);
        const auto* made = reply ? std::get_if<core::reply::Submitted>(&reply->body) : nullptr;
        const Calls::Waiting* asked = made != nullptr ? calls_.find(reply->token) : nullptr;
        if (asked != nullptr) refused.push_back({asked->session, asked->request, made->job});
    }
    if (!refused.empty()) withdraw_jobs(refused);
}

void Controller::withdraw_jobs(const std::vector<Unwritten>& refused) {
    std::set<JobId> jobs;
    core::event::Signal end;  // By root.
    end.admin_comment = "refused: the controller's disk was full";
    for (const Unwritten& each : refused) {
        const model::JobSelector selector{.job = each.job, .elements = {}, .step = {}};
        for (const model::Job* job : cluster_->find(selector)) jobs.insert(job->id);
        jobs.insert(each.job);
        end.filter.jobs.push_back(selector);
        if (const auto asked = calls_.token_of(each.session, each.request)) calls_.withdraw(*asked);
        std::erase_if(committing_outbox_, [&](const Outgoing& outgoing) {
            const auto* reply = std::get_if<ToCaller>(&outgoing);
            return reply && reply->session == each.session && reply->request == each.request;
        });
        calls_.refuse(each.session, each.request, fail(kNoRoom, kNoSubmission).error);
    }
    std::erase_if(committing_outbox_, [&](const Outgoing& outgoing) {
        const auto* launch = std::get_if<ToLaunch>(&outgoing);
        const auto* program = std::get_if<ToProgram>(&outgoing);
        const auto* order = std::get_if<ToNode>(&outgoing);
        return (launch && jobs.contains(launch->key.job)) ||
               (program && jobs.contains(program->order.job)) ||
               (order && order->job && jobs.contains(*order->job));
    });
    committer_.leave_out({jobs.begin(), jobs.end()});
    log_.error("{} submissions are refused: the disk is full", refused.size());
    step(std::move(end));
    // No node has heard of them, so none has to say that nothing of them is left.
    for (const JobId id : jobs) {
        const auto job = cluster_->jobs().find(id);
        if (job == cluster_->jobs().end()) continue;
        const model::Allocation* held = model::allocation_of(job->second);
        const Attempt attempt = job->second.attempt;
        const auto nodes = held != nullptr ? held->node_names() : std::vector<std::string>();
        for (const std::string& node : nodes)
            step(core::event::JobClean{.node = node, .job = id, .attempt = attempt});
    }
}

}  // namespace switchyard::controller
