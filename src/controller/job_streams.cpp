#include "controller/job_streams.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "controller/controller.hpp"
#include "controller/replies.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

constexpr std::size_t kLookedAtPerSlice =
    20'000;  // Jobs that do not match cost little, but not nothing.
constexpr std::size_t kUnsentBytesMax = 4u << 20;

// Ids that the selectors stand for; those that do not exist leave nothing.
std::vector<JobId> find_ids(const core::Cluster& cluster,
                            const std::vector<model::JobSelector>& selectors) {
    std::vector<JobId> ids;
    for (const model::JobSelector& selector : selectors) {
        for (const model::Job* job : cluster.find(selector)) ids.push_back(job->id);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

void add_steps(const core::Cluster& cluster, JobId job, wire::JobsReply* out) {
    auto it = cluster.steps().lower_bound(StepKey{.job = job, .attempt = {}, .step = {}});
    for (; it != cluster.steps().end() && it->first.job == job; ++it) {
        wire::encode(it->second, out->add_steps());
    }
}

model::Running bare(const model::Running& run) {
    model::Running out;
    out.started = run.started;
    out.ends_by = run.ends_by;
    out.suspended_for = run.suspended_for;
    return out;
}
model::JobPhase bare(const model::JobPhase& phase) {
    struct {
        model::JobPhase operator()(const model::Pending& p) const {
            model::Pending out;
            out.reason = p.reason;
            out.hold = p.hold;
            out.eligible_at = p.eligible_at;
            return out;
        }
        model::JobPhase operator()(const model::Running& run) const { return bare(run); }
        model::JobPhase operator()(const model::Suspended& s) const {
            return model::Suspended{bare(s.run), s.since};
        }
        model::JobPhase operator()(const model::Completing& c) const {
            return model::Completing{bare(c.run), c.ended, c.outcome, {}, c.next};
        }
        model::JobPhase operator()(const model::Ended& e) const {
            return model::Ended{e.run ? std::optional(bare(*e.run)) : std::nullopt, e.ended,
                                e.outcome};
        }
    } of;
    return std::visit(of, phase);
}

// Who the job is and how it stands. What it asked for and what it holds is most of a record, and a
// program that waits for the end of its jobs reads none of it.
model::Job bare(const model::Job& job) {
    model::JobSpec spec;
    spec.name = job.spec->name;
    spec.user = job.spec->user;
    spec.uid = job.spec->uid;
    spec.partitions = job.spec->partitions;
    model::Job out;
    out.id = job.id;
    out.het = job.het;
    out.array = job.array;
    out.spec = std::make_shared<const model::JobSpec>(std::move(spec));
    out.attempt = job.attempt;
    out.restarts = job.restarts;
    out.priority = job.priority;
    out.partition = job.partition;
    out.submitted = job.submitted;
    out.phase = bare(job.phase);
    return out;
}

}  // namespace

JobStreams::JobStreams(Controller& controller)
    : controller_(controller), scratch_(std::make_unique<wire::Reply>()) {}
JobStreams::~JobStreams() = default;

Result<JobStreams::Stream> JobStreams::open(Session& session, std::uint64_t request,
                                            const wire::JobsQuery& query) const {
    const core::Cluster& cluster = controller_.cluster();
    Stream stream;
    stream.session = session.id;
    stream.request = request;
    SY_TRY(stream.match.filter, to_filter(query.filter()));
    stream.match.all_states = query.all_states();
    stream.with_steps = query.with_steps();
    stream.states_only = query.states_only();
    const std::vector<model::JobSelector>& selectors = stream.match.filter.jobs;
    if (!selectors.empty()) {
        stream.ids = find_ids(cluster, selectors);
        if (query.one_job() && stream.ids->empty()) return fail(Errc::InvalidJobId);
    } else if (!stream.match.filter.uids.empty()) {
        stream.ids = controller_.jobs().of_users(stream.match.filter.uids);
    }
    if (selectors.empty() && !query.hidden_partitions()) {
        for (const model::Partition& partition : cluster.partitions()) {
            if (partition.hidden) stream.hidden.push_back(partition.name);
        }
    }
    return stream;
}

void JobStreams::start(Session& session, std::uint64_t request, const wire::JobsQuery& query) {
    auto stream = open(session, request, query);
    if (!stream) return controller_.finish(session, failure_frame(request, stream.error()));
    if (serve(*stream, session)) go_on(std::make_unique<Stream>(*std::move(stream)));
}

bool JobStreams::serve(Stream& stream, Session& session) {
    const core::Cluster& cluster = controller_.cluster();
    wire::Reply& reply = *scratch_;
    reply.set_id(stream.request);
    // Not the whole reply: that would give back what a list of jobs was encoded into.
    wire::JobsReply* out = reply.mutable_jobs();
    out->Clear();
    out->set_now(controller_.now().time_since_epoch().count());
    const auto offer = [&](const model::Job& job) {
        if (!stream.match(job)) return;
        if (std::ranges::find(stream.hidden, job.partition) != stream.hidden.end()) return;
        if (stream.states_only) {
            wire::encode(bare(job), out->add_jobs());
        } else {
            wire::encode(job, out->add_jobs());
        }
        if (stream.with_steps) add_steps(cluster, job.id, out);
    };
    std::size_t looked_at = 0;
    const auto full = [&] {
        return static_cast<std::size_t>(out->jobs_size()) >= limits::kJobsPerReplyChunk ||
               ++looked_at > kLookedAtPerSlice;
    };
    bool more = false;
    if (stream.ids) {
        for (; stream.place < stream.ids->size() && !full(); ++stream.place) {
            const auto it = cluster.jobs().find((*stream.ids)[stream.place]);
            if (it != cluster.jobs().end()) offer(it->second);
        }
        more = stream.place < stream.ids->size();
    } else {
        auto it = cluster.jobs().upper_bound(stream.after);
        for (; it != cluster.jobs().end() && !full(); ++it) {
            offer(it->second);
            stream.after = it->first;
        }
        more = it != cluster.jobs().end();
    }
    reply.set_last(!more);
    if (!more) {
        controller_.finish(session, reply.SerializeAsString());
    } else if (out->jobs_size() > 0) {
        session.send(reply.SerializeAsString());
    }
    return more;
}

void JobStreams::go_on(std::unique_ptr<Stream> stream) {
    Session* session = controller_.sessions().find(stream->session);
    if (session == nullptr) return;
    if (session->outlet().unsent_bytes() <= kUnsentBytesMax) {
        ready_.push_back(std::move(stream));
        return post_turn();
    }
    session->outlet().when_drained(
        [this, waiting = std::make_shared<std::unique_ptr<Stream>>(std::move(stream))] {
            ready_.push_back(std::move(*waiting));
            post_turn();
        });
}

void JobStreams::post_turn() {
    if (turn_posted_ || ready_.empty()) return;
    turn_posted_ = true;
    controller_.loop().post([this] {
        turn_posted_ = false;
        turn();
    });
}

// One slice of one stream; the others, and everything else, come before its next.
void JobStreams::turn() {
    if (ready_.empty()) return;
    std::unique_ptr<Stream> stream = std::move(ready_.front());
    ready_.pop_front();
    Session* session = controller_.sessions().find(stream->session);
    if (session != nullptr && serve(*stream, *session)) go_on(std::move(stream));
    post_turn();
}

}  // namespace switchyard::controller
