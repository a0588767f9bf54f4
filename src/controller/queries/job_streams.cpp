#include "controller/queries/job_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/queries/folded_job.hpp"
#include "controller/queries/query_context.hpp"
#include "controller/queries/visibility.hpp"
#include "controller/requests/wire_fields.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

// Jobs that do not match cost little, but not nothing: some are decoded to be told apart.
constexpr std::size_t kLookedAtPerSlice = 5'000;
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

std::vector<JobId> ids_of_users(const core::Cluster& cluster, std::vector<std::uint32_t> uids) {
    std::ranges::sort(uids);
    uids.erase(std::unique(uids.begin(), uids.end()), uids.end());
    std::vector<JobId> ids;
    for (const std::uint32_t uid : uids) {
        const std::vector<JobId> more = cluster.jobs().of_user(uid);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    std::ranges::sort(ids);
    return ids;
}

// Whether nothing but states is asked for: then a folded job need not be decoded.
bool is_by_state(const model::JobFilter& filter) {
    return filter.uids.empty() && filter.names.empty() && filter.partitions.empty() &&
           filter.accounts.empty() && filter.qos.empty() && filter.nodes.empty() &&
           filter.reservations.empty() && filter.wckeys.empty();
}

// Most programs that ask again and again ask for those who have not ended, beside whom there may be
// many who have.
core::JobTable::Walk walk_for(const JobMatcher& match) {
    const auto is_end = [](model::JobState state) { return model::is_finished(state); };
    const bool ended = match.filter.states.empty()
                           ? match.all_states
                           : std::ranges::any_of(match.filter.states, is_end);
    return ended ? core::JobTable::Walk::All : core::JobTable::Walk::PassesEnded;
}

// What the phase of a folded job says about the states that are asked for; none: not enough.
std::optional<bool> has_state(const JobMatcher& match, core::JobTable::Walk walk,
                              const FoldedJob& job) {
    const std::vector<model::JobState>& wanted = match.filter.states;
    if (wanted.empty()) return match.all_states || !job.ended;
    if (job.ended && walk == core::JobTable::Walk::PassesEnded) return false;
    if (!job.pending && !job.running) return std::nullopt;
    // One that runs may be configuring: that is told by what is inside.
    const bool configuring =
        std::ranges::find(wanted, model::JobState::Configuring) != wanted.end();
    if (job.running && configuring) return std::nullopt;
    const auto state = job.pending ? model::JobState::Pending : model::JobState::Running;
    return std::ranges::find(wanted, state) != wanted.end();
}

}  // namespace

// One message of a list. Jobs are put into it as the bytes in which they are kept, or encoded if
// they are open.
class JobStreams::Slice {
  public:
    void begin(Instant now) {
        wire::JobsReply head;
        head.set_now(now.time_since_epoch().count());
        body_.clear();
        head.AppendToString(&body_);  // First: who reads job by job knows it from the start.
        head_bytes_ = body_.size();
        jobs_ = 0;
    }
    bool empty() const { return body_.size() == head_bytes_; }
    bool full() const {
        return body_.size() >= limits::kReplyBytesMax || jobs_ >= limits::kJobsPerReplyChunk;
    }

    void add(std::string_view folded, JobPart part) {
        constexpr std::uint32_t kNumber = wire::JobsReply::kJobsFieldNumber;
        if (part == JobPart::Whole) {
            append_field_head(body_, kNumber, folded.size());
            body_ += folded;
        } else {
            part == JobPart::State ? append_state(body_, kNumber, folded)
                                   : append_line(body_, kNumber, folded);
        }
        ++jobs_;
    }
    void add(const model::Job& job, JobPart part) {
        job_.Clear();
        wire::encode(job, &job_);
        whole_.clear();
        job_.AppendToString(&whole_);
        add(whole_, part);
    }
    // The steps of a job from this one on; returns the first for which there is no room.
    std::optional<StepKey> add_steps(const std::map<StepKey, model::Step>& steps,
                                     const StepKey& from) {
        auto it = steps.lower_bound(from);
        for (; it != steps.end() && it->first.job == from.job; ++it) {
            if (body_.size() >= limits::kReplyBytesMax) return it->first;
            step_.Clear();
            wire::encode(it->second, &step_);
            append(wire::JobsReply::kStepsFieldNumber, step_);
        }
        return std::nullopt;
    }
    // The whole reply.
    std::string frame(std::uint64_t request, bool last) {
        wire::Reply reply;
        reply.set_id(request);
        reply.set_last(last);
        std::string out;
        out.reserve(body_.size() + 32);
        reply.AppendToString(&out);
        append_field_head(out, wire::Reply::kJobsFieldNumber, body_.size());
        out += body_;
        return out;
    }

  private:
    template <class Message>
    void append(std::uint32_t field, const Message& message) {
        append_field_head(body_, field, message.ByteSizeLong());
        message.AppendToString(&body_);
    }

    std::string body_;  // Of the JobsReply.
    std::size_t head_bytes_ = 0;
    std::size_t jobs_ = 0;
    std::string whole_;  // Of the job that is being added.
    wire::Job job_;
    wire::Step step_;
};

bool JobStreams::Stream::hides(std::string_view partition) const {
    return std::ranges::find(hidden, partition) != hidden.end();
}

bool JobStreams::Stream::hides(const model::Job& job) const {
    if (!hides(job.partition)) return false;
    if (!std::holds_alternative<model::Pending>(job.phase)) return true;
    return std::ranges::all_of(job.spec->partitions,
                               [&](const std::string& each) { return hides(each); });
}

JobStreams::JobStreams(QueryContext& context)
    : context_(context), slice_(std::make_unique<Slice>()) {}
JobStreams::~JobStreams() = default;

Result<JobStreams::Stream> JobStreams::open(Session& session, std::uint64_t request,
                                            const wire::JobsQuery& query) const {
    const core::Cluster& cluster = context_.cluster;
    Stream stream;
    stream.session = session.id;
    stream.uid = session.caller.uid;
    stream.request = request;
    SY_TRY(stream.match.filter, to_filter(query.filter()));
    stream.match.all_states = query.all_states();
    stream.with_steps = query.with_steps();
    if (query.brief()) stream.part = JobPart::Line;
    if (query.states_only()) stream.part = JobPart::State;
    const std::vector<model::JobSelector>& selectors = stream.match.filter.jobs;
    if (!selectors.empty()) {
        stream.ids = find_ids(cluster, selectors);
        std::erase_if(*stream.ids, [&](JobId id) {
            const DurableView::Stored* stored = context_.durable.find(id);
            return stored != nullptr && !stored->job;
        });
        if (query.one_job() && stream.ids->empty()) return fail(Errc::InvalidJobId);
    } else if (!stream.match.filter.uids.empty()) {
        stream.ids = ids_of_users(cluster, std::exchange(stream.match.filter.uids, {}));
    }
    stream.by_state = is_by_state(stream.match.filter);
    stream.walk = walk_for(stream.match);
    if (selectors.empty() && !query.hidden_partitions()) {
        stream.hidden = concealed_partitions(context_.cluster, context_.names, session.caller);
    }
    stream.all_walked = !stream.ids && stream.by_state && stream.match.filter.states.empty() &&
                        stream.hidden.empty();
    return stream;
}

void JobStreams::start(Session& session, std::uint64_t request, const wire::JobsQuery& query) {
    if (!take_place(session, request)) return;
    if (context_.durable.is_ready()) return begin(session, request, query);
    context_.durable.when_ready([this, id = session.id, request, query] {
        if (Session* asking = context_.sessions.find(id)) begin(*asking, request, query);
    });
}

void JobStreams::begin(Session& session, std::uint64_t request, const wire::JobsQuery& query) {
    auto stream = open(session, request, query);
    if (!stream) return end_list(session.id, failure_frame(request, stream.error()));
    // The first slice at once, unless others of this user wait for theirs.
    if (ready_.contains(stream->uid) || serve(*stream, session))
        go_on(std::make_unique<Stream>(*std::move(stream)));
}

bool JobStreams::take_place(Session& session, std::uint64_t request) {
    if (session.lists < limits::kListsPerConnectionMax) {
        ++session.lists;
        return true;
    }
    context_.calls.refuse(session, request,
                          {Errc::Busy, fmt::format("{} lists of jobs are asked for by "
                                                   "this connection, at most as many "
                                                   "are allowed",
                                                   session.lists)});
    return false;
}

void JobStreams::end_list(SessionId id, const std::string& frame) {
    Session* session = context_.sessions.find(id);
    if (session == nullptr) return;
    --session->lists;
    context_.calls.finish(*session, frame);
}

// Into the slice, if the stream is about it.
void JobStreams::offer(Stream& stream, core::JobTable::const_iterator job) {
    if (const DurableView::Stored* stored = context_.durable.find(job.id()))
        return offer_stored(stream, *stored);
    const std::string_view folded = job.folded();
    FoldedJob seen;
    std::optional<bool> meant;
    if (!folded.empty() && stream.all_walked) {
        meant = true;
    } else if (!folded.empty() && stream.by_state) {
        seen = look_at_folded(folded);
        meant = has_state(stream.match, stream.walk, seen);
    }
    if (meant) {
        if (!*meant || (stream.hides(seen.partition) && stream.hides(job->second))) return;
    } else if (!stream.match(job->second) || stream.hides(job->second)) {
        return;
    }
    if (folded.empty()) {
        slice_->add(job->second, stream.part);
    } else {
        slice_->add(folded, stream.part);
    }
    if (stream.with_steps) {
        stream.steps_from = slice_->add_steps(context_.cluster.steps(),
                                              StepKey{.job = job.id(), .attempt = {}, .step = {}});
    }
}

void JobStreams::offer_stored(Stream& stream, const DurableView::Stored& stored) {
    if (!stored.job || !stream.match(*stored.job) || stream.hides(*stored.job)) return;
    slice_->add(*stored.job, stream.part);
    if (!stream.with_steps) return;
    stream.steps_from =
        slice_->add_steps(stored.steps, StepKey{.job = stored.job->id, .attempt = {}, .step = {}});
}

const std::map<StepKey, model::Step>& JobStreams::steps_of(JobId job) const {
    const DurableView::Stored* stored = context_.durable.find(job);
    return stored != nullptr ? stored->steps : context_.cluster.steps();
}

bool JobStreams::fill_slice(Stream& stream) {
    // What one job left over comes alone: a message of steps only belongs to the job before it.
    if (stream.steps_from) {
        stream.steps_from = slice_->add_steps(steps_of(stream.steps_from->job), *stream.steps_from);
        return true;
    }
    const core::JobTable& jobs = context_.cluster.jobs();
    std::size_t looked_at = 0;
    const auto full = [&] { return slice_->full() || ++looked_at > kLookedAtPerSlice; };
    bool more = false;
    if (stream.ids) {
        for (; stream.place < stream.ids->size() && !full(); ++stream.place) {
            const auto it = jobs.glance((*stream.ids)[stream.place]);
            if (it != jobs.end()) offer(stream, it);
        }
        more = stream.place < stream.ids->size();
    } else {
        // One that has ended in memory may not have on disk.
        const auto walk = context_.durable.differs() ? core::JobTable::Walk::All : stream.walk;
        auto it = jobs.upper_bound(stream.after, walk);
        for (; it != jobs.end() && !full(); ++it) {
            offer(stream, it);
            stream.after = it.id();
        }
        more = it != jobs.end();
    }
    return more || stream.steps_from;
}

bool JobStreams::serve(Stream& stream, Session& session) {
    slice_->begin(context_.now());
    const bool more = fill_slice(stream);
    if (!more) {
        end_list(session.id, slice_->frame(stream.request, true));
    } else if (!slice_->empty()) {
        session.send(slice_->frame(stream.request, false));
    }
    return more;
}

void JobStreams::go_on(std::unique_ptr<Stream> stream) {
    Session* session = context_.sessions.find(stream->session);
    if (session == nullptr) return;
    if (session->outlet().unsent_bytes() <= kUnsentBytesMax) {
        ready_[stream->uid].push_back(std::move(stream));
        return post_turn();
    }
    session->outlet().when_drained(
        [this, waiting = std::make_shared<std::unique_ptr<Stream>>(std::move(stream))] {
            ready_[(*waiting)->uid].push_back(std::move(*waiting));
            post_turn();
        });
}

void JobStreams::post_turn() {
    if (turn_posted_ || ready_.empty()) return;
    turn_posted_ = true;
    context_.loop.post([this] {
        turn_posted_ = false;
        turn();
    });
}

// One slice of one stream; the others, and everything else, come before its next.
void JobStreams::turn() {
    if (ready_.empty()) return;
    if (!context_.durable.is_ready()) return context_.durable.when_ready([this] { post_turn(); });
    auto next = ready_.upper_bound(last_served_);
    if (next == ready_.end()) next = ready_.begin();
    last_served_ = next->first;
    std::unique_ptr<Stream> stream = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) ready_.erase(next);
    Session* session = context_.sessions.find(stream->session);
    if (session != nullptr && serve(*stream, *session)) go_on(std::move(stream));
    post_turn();
}

}  // namespace switchyard::controller
