// history.cpp: jobs from the store: every job that ever was. The reader's thread finds their ids,
// then reads and encodes them a chunk at a time; the next chunk is asked for when the caller has
// taken the last.
#include <algorithm>
#include <span>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/queries/job_streams.hpp"
#include "controller/queries/query_context.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

namespace {

constexpr std::size_t kJobsPerFetch = 250;  // All in memory at once, whatever their size.

}  // namespace

struct JobStreams::History {
    SessionId session;
    std::uint64_t request = 0;
    JobMatcher match;
    store::HistoryQuery query;
    bool with_steps = false;
    bool one_job = false;
    std::vector<JobId> ids;
    std::size_t place = 0;
};

namespace {

store::HistoryQuery to_query(const model::JobFilter& filter, const wire::JobsQuery& message) {
    store::HistoryQuery query;
    for (const model::JobSelector& selector : filter.jobs) query.jobs.push_back(selector.job);
    query.uids = filter.uids;
    query.names = filter.names;
    query.partitions = filter.partitions;
    query.past_runs = message.past_runs();
    // A job asked for by how it ended is found by that; any other state is no matter of the store.
    const auto is_end = [](model::JobState state) { return model::is_finished(state); };
    if (!filter.states.empty() && std::ranges::all_of(filter.states, is_end)) {
        for (const model::JobState state : filter.states)
            query.states.emplace_back(model::long_name(state));
        query.ended_only = true;
    }
    if (message.has_history_from()) query.from = Instant{Millis{message.history_from()}};
    if (message.has_history_to()) query.to = Instant{Millis{message.history_to()}};
    return query;
}

// Of "12_3" only element 3, where the store found the whole array. The selectors are sorted by job.
bool selected(const std::vector<model::JobSelector>& selectors, const model::Job& job) {
    const auto named = [&](JobId id) {
        return std::ranges::equal_range(selectors, id, {}, &model::JobSelector::job);
    };
    const auto means = [&](const model::JobSelector& selector) {
        if (!selector.elements) return true;
        if (!job.array || job.array->array_id != selector.job) return false;
        if (job.array->element) return selector.elements->contains(*job.array->element);
        return selector.elements->intersects(job.array->pending);
    };
    return selectors.empty() || std::ranges::any_of(named(job.id), means) ||
           (job.array && std::ranges::any_of(named(job.array->array_id), means));
}

// What memory holds of these jobs. It is never behind the store, and knows why a job waits, which
// is written only along with real changes. While the disk is full it says too much of some.
store::HistoryChunk remembered(const core::Cluster& cluster, const DurableView& durable,
                               std::span<const JobId> ids, bool with_steps) {
    store::HistoryChunk known;
    for (const JobId id : ids) {
        if (durable.find(id) != nullptr) continue;
        const auto it = cluster.jobs().glance(id);
        if (it == cluster.jobs().end()) continue;
        known.jobs.push_back(it->second);
        if (!with_steps) continue;
        auto step = cluster.steps().lower_bound({.job = id, .attempt = {}, .step = {}});
        for (; step != cluster.steps().end() && step->first.job == id; ++step)
            known.steps.push_back(step->second);
    }
    return known;
}

void prefer(store::HistoryChunk known, store::HistoryChunk& found) {
    const auto find = [&](JobId id) {
        const auto it = std::ranges::lower_bound(known.jobs, id, {}, &model::Job::id);
        return it != known.jobs.end() && it->id == id ? &*it : nullptr;
    };
    for (model::Job& job : found.jobs) {
        const model::Job* better = find(job.id);
        if (better != nullptr && better->attempt == job.attempt) job = *better;
    }
    std::erase_if(found.steps, [&](const model::Step& step) {
        return std::ranges::binary_search(known.steps, step.key, {}, &model::Step::key);
    });
    std::ranges::move(known.steps, std::back_inserter(found.steps));
    std::ranges::sort(found.steps, {}, &model::Step::key);
}

// Jobs and their steps as messages, cut by their bytes.
class ChunkFrames {
  public:
    ChunkFrames(std::uint64_t request, Instant now) : request_(request), now_(now) { begin(); }

    void add(const model::Job& job, std::span<const model::Step> steps) {
        if (bytes_ >= limits::kReplyBytesMax || steps_only_) cut();
        wire::Job* out = reply_.mutable_jobs()->add_jobs();
        wire::encode(job, out);
        bytes_ += out->ByteSizeLong();
        for (const model::Step& step : steps) {
            // A message of steps only belongs to the job before it.
            if (bytes_ >= limits::kReplyBytesMax) {
                cut();
                steps_only_ = true;
            }
            wire::Step* each = reply_.mutable_jobs()->add_steps();
            wire::encode(step, each);
            bytes_ += each->ByteSizeLong();
        }
    }
    std::vector<std::string> take(bool last) {
        reply_.set_last(last);
        cut();
        return std::move(frames_);
    }

  private:
    void begin() {
        reply_.Clear();
        reply_.set_id(request_);
        reply_.mutable_jobs()->set_now(now_.time_since_epoch().count());
        bytes_ = 0;
        steps_only_ = false;
    }
    void cut() {
        frames_.push_back(reply_.SerializeAsString());
        begin();
    }

    std::uint64_t request_;
    Instant now_;
    wire::Reply reply_;
    std::size_t bytes_ = 0;
    bool steps_only_ = false;
    std::vector<std::string> frames_;
};

std::vector<std::string> chunk_frames(std::uint64_t request, bool last, Instant now,
                                      const store::HistoryChunk& chunk, const JobMatcher& match) {
    const auto run_of_step = [](const model::Step& step) {
        return std::pair(step.key.job, step.key.attempt);
    };
    ChunkFrames frames(request, now);
    for (const model::Job& job : chunk.jobs) {
        if (!selected(match.filter.jobs, job) || !match(job)) continue;
        const auto steps =
            std::ranges::equal_range(chunk.steps, std::pair(job.id, job.attempt), {}, run_of_step);
        frames.add(job, steps);
    }
    return frames.take(last);
}

}  // namespace

void JobStreams::start_history(Session& session, std::uint64_t request,
                               const wire::JobsQuery& query) {
    if (!take_place(session, request)) return;
    auto filter = to_filter(query.filter());
    if (!filter) return end_list(session.id, failure_frame(request, filter.error()));
    auto history = std::make_shared<History>();
    history->session = session.id;
    history->request = request;
    history->query = to_query(*filter, query);
    history->match = {.filter = *std::move(filter), .all_states = true};
    std::ranges::sort(history->match.filter.jobs, {}, &model::JobSelector::job);
    history->with_steps = query.with_steps();
    history->one_job = query.one_job();
    context_.reader.ask([this, history](store::Reader& reader) {
        auto found = reader.find(history->query);
        context_.loop.post([this, history, found = std::move(found)] {
            if (!found) {
                return end_list(history->session, failure_frame(history->request, found.error()));
            }
            history->ids = *found;
            if (history->one_job && history->ids.empty()) {
                return end_list(history->session,
                                failure_frame(history->request, fail(Errc::InvalidJobId).error));
            }
            fetch_history(history);
        });
    });
}

void JobStreams::fetch_history(const std::shared_ptr<History>& history) {
    if (!context_.durable.is_ready())
        return context_.durable.when_ready([this, history] { fetch_history(history); });
    const std::size_t count = std::min(kJobsPerFetch, history->ids.size() - history->place);
    const std::size_t begin = history->place;
    history->place += count;
    const bool last = history->place == history->ids.size();
    const Instant now = context_.now();
    const auto part = std::span<const JobId>(history->ids).subspan(begin, count);
    context_.reader.ask([this, history, part, last, now,
                         known = remembered(context_.cluster, context_.durable, part,
                                            history->with_steps)](store::Reader& reader) {
        auto chunk = reader.fetch(part, history->with_steps, history->query.past_runs);
        if (chunk) prefer(known, *chunk);
        std::vector<std::string> frames{};
        if (chunk) {
            frames = chunk_frames(history->request, last, now, *chunk, history->match);
        } else {
            frames.push_back(failure_frame(history->request, chunk.error()));
        }
        const bool over = last || !chunk;
        context_.loop.post([this, history, over, frames = std::move(frames)] {
            Session* session = context_.sessions.find(history->session);
            if (session == nullptr) return;
            for (const std::string& frame : std::span(frames).first(frames.size() - 1))
                session->send(frame);
            if (over) return end_list(history->session, frames.back());
            session->send(frames.back());
            session->outlet().when_drained([this, history] { fetch_history(history); });
        });
    });
}

}  // namespace switchyard::controller
