// history.cpp: jobs from the store: every job that ever was. The reader's thread finds their ids,
// then reads and encodes them a chunk at a time; the next chunk is asked for when the caller has
// taken the last.
#include <algorithm>
#include <span>

#include "base/limits.hpp"
#include "controller/controller.hpp"
#include "controller/job_streams.hpp"
#include "controller/replies.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

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

store::HistoryQuery to_query(const core::event::JobFilter& filter, const wire::JobsQuery& message) {
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

// Of "12_3" only element 3, where the store found the whole array.
bool selected(const std::vector<model::JobSelector>& selectors, const model::Job& job) {
    return selectors.empty() ||
           std::ranges::any_of(selectors, [&](const model::JobSelector& selector) {
               const bool array = job.array && job.array->array_id == selector.job;
               if (!selector.elements) return array || job.id == selector.job;
               if (!array) return false;
               if (job.array->element) return selector.elements->contains(*job.array->element);
               return selector.elements->intersects(job.array->pending);
           });
}

// What memory holds of these jobs. It is never behind the store, and knows why a job waits, which
// is written only along with real changes.
store::HistoryChunk remembered(const core::Cluster& cluster, std::span<const JobId> ids,
                               bool with_steps) {
    store::HistoryChunk known;
    for (const JobId id : ids) {
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

std::string chunk_frame(std::uint64_t request, bool last, Instant now,
                        const store::HistoryChunk& chunk, const JobMatcher& match) {
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(last);
    wire::JobsReply* out = reply.mutable_jobs();
    out->set_now(now.time_since_epoch().count());
    std::vector<std::pair<JobId, Attempt>> shown;
    for (const model::Job& job : chunk.jobs) {
        if (!selected(match.filter.jobs, job) || !match(job)) continue;
        wire::encode(job, out->add_jobs());
        shown.emplace_back(job.id, job.attempt);
    }
    for (const model::Step& step : chunk.steps) {
        const std::pair run(step.key.job, step.key.attempt);
        if (std::ranges::binary_search(shown, run)) wire::encode(step, out->add_steps());
    }
    return reply.SerializeAsString();
}

}  // namespace

void JobStreams::start_history(Session& session, std::uint64_t request,
                               const wire::JobsQuery& query) {
    auto filter = to_filter(query.filter());
    if (!filter) return controller_.finish(session, failure_frame(request, filter.error()));
    auto history = std::make_shared<History>();
    history->session = session.id;
    history->request = request;
    history->query = to_query(*filter, query);
    history->match = {.filter = *std::move(filter), .all_states = true};
    history->with_steps = query.with_steps();
    history->one_job = query.one_job();
    controller_.reader().ask([this, history](store::Reader& reader) {
        auto found = reader.find(history->query);
        controller_.loop().post([this, history, found = std::move(found)] {
            if (!found) {
                return controller_.finish(history->session,
                                          failure_frame(history->request, found.error()));
            }
            history->ids = *found;
            if (history->one_job && history->ids.empty()) {
                return controller_.finish(
                    history->session,
                    failure_frame(history->request, fail(Errc::InvalidJobId).error));
            }
            fetch_history(history);
        });
    });
}

void JobStreams::fetch_history(const std::shared_ptr<History>& history) {
    const std::size_t count =
        std::min(limits::kJobsPerReplyChunk, history->ids.size() - history->place);
    const std::size_t begin = history->place;
    history->place += count;
    const bool last = history->place == history->ids.size();
    const Instant now = controller_.now();
    const auto part = std::span<const JobId>(history->ids).subspan(begin, count);
    controller_.reader().ask([this, history, part, last, now,
                              known = remembered(controller_.cluster(), part, history->with_steps)](
                                 store::Reader& reader) {
        auto chunk = reader.fetch(part, history->with_steps, history->query.past_runs);
        if (chunk) prefer(known, *chunk);
        std::string frame = chunk ? chunk_frame(history->request, last, now, *chunk, history->match)
                                  : failure_frame(history->request, chunk.error());
        const bool over = last || !chunk;
        controller_.loop().post([this, history, over, frame = std::move(frame)] {
            Session* session = controller_.sessions().find(history->session);
            if (session == nullptr) return;
            if (over) return controller_.finish(*session, frame);
            session->send(frame);
            session->outlet().when_drained([this, history] { fetch_history(history); });
        });
    });
}

}  // namespace switchyard::controller
