#include "controller/links/replies.hpp"

#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

class Writer {
  public:
    Writer(wire::Reply& to, const core::Cluster& cluster) : to_(to), cluster_(cluster) {}

    void operator()(const core::reply::Done& done) {
        wire::DoneReply* out = to_.mutable_done();
        for (const auto& problem : done.problems) {
            wire::Problem* entry = out->add_problems();
            entry->set_job(problem.job);
            entry->set_code(static_cast<std::uint32_t>(problem.code));
        }
        out->set_matched(done.matched);
        for (const std::string& id : done.touched) out->add_touched(id);
    }
    void operator()(const core::reply::Failed& failed) {
        wire::Failure* out = to_.mutable_failure();
        out->set_code(static_cast<std::uint32_t>(failed.error.code));
        out->set_message(failed.error.message);
        for (const std::string& note : failed.notes) out->add_notes(note);
    }
    void operator()(const core::reply::Submitted& submitted) {
        wire::SubmittedReply* out = to_.mutable_submitted();
        out->set_job(submitted.job.value);
        for (const std::string& note : submitted.notes) out->add_notes(note);
    }
    void operator()(const core::reply::WouldStart& would) {
        wire::WouldStartReply* out = to_.mutable_would_start();
        out->set_job(would.job.value);
        out->set_start(would.start.time_since_epoch().count());
        out->set_cpus(would.cpus);
        for (const std::string& node : would.nodes) out->add_nodes(node);
        out->set_partition(would.partition);
    }
    void operator()(const core::reply::Granted& granted) {
        wire::GrantedReply* out = to_.mutable_granted();
        encode_job(granted.job, out->mutable_job());
        for (const model::Job* job :
             cluster_.find({.job = granted.job, .elements = {}, .step = {}})) {
            if (job->id != granted.job) wire::encode(*job, out->add_more());
        }
    }
    void operator()(const core::reply::StepWaits& waits) {
        to_.mutable_step_waits()->set_code(static_cast<std::uint32_t>(waits.why));
    }
    void operator()(const core::reply::StepMade& made) {
        encode_step(made.key, *to_.mutable_step_made());
        for (const StepKey& key : made.more) encode_step(key, *to_.mutable_step_made()->add_more());
    }
    void operator()(const core::reply::JobEnded& ended) {
        wire::JobEndedReply* out = to_.mutable_job_ended();
        out->set_job(ended.job.value);
        wire::encode(ended.outcome, out->mutable_outcome());
        out->set_worst_wait_status(ended.worst_wait_status);
    }
    void operator()(const core::reply::CrontabSet& set) {
        wire::CrontabReply* out = to_.mutable_crontab();
        for (const JobId job : set.jobs) out->add_jobs(job.value);
    }
    void operator()(const core::reply::ReservationMade& made) {
        to_.mutable_reservation_made()->set_name(made.name);
    }
    void operator()(const core::reply::OwnerNotice& notice) {
        wire::OwnerNoticeReply* out = to_.mutable_owner_notice();
        out->set_job(notice.job.value);
        out->set_kind(static_cast<std::uint32_t>(notice.kind));
        out->set_node(notice.node);
        out->set_text(notice.text);
    }
    void operator()(const core::reply::StepEnds& ends) {
        wire::StepEndsReply* out = to_.mutable_step_ends();
        for (const StepKey& key : ends.steps) {
            const auto it = cluster_.steps().find(key);
            if (it != cluster_.steps().end()) wire::encode(it->second, out->add_steps());
        }
    }

  private:
    void encode_step(const StepKey& key, wire::StepMadeReply& out) {
        if (const auto it = cluster_.steps().find(key); it != cluster_.steps().end()) {
            wire::encode(it->second, out.mutable_step());
        }
        encode_job(key.job, out.mutable_job());
    }
    void encode_job(JobId id, wire::Job* out) {
        const auto it = cluster_.jobs().find(id);
        if (it != cluster_.jobs().end()) wire::encode(it->second, out);
    }
    wire::Reply& to_;
    const core::Cluster& cluster_;
};

}  // namespace

wire::Reply answer_to(const wire::Request& request) {
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    return reply;
}

std::string failure_frame(std::uint64_t request, const Error& error,
                          const std::vector<std::string>& notes) {
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(true);
    wire::Failure* failure = reply.mutable_failure();
    failure->set_code(static_cast<std::uint32_t>(error.code));
    failure->set_message(error.message);
    for (const std::string& note : notes) failure->add_notes(note);
    return reply.SerializeAsString();
}

std::string done_frame(std::uint64_t request) {
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(true);
    reply.mutable_done();
    return reply.SerializeAsString();
}

std::string reply_frame(std::uint64_t request, const core::effect::Reply& answer,
                        const core::Cluster& cluster) {
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(answer.last);
    std::visit(Writer(reply, cluster), answer.body);
    return reply.SerializeAsString();
}

}  // namespace switchyard::controller
