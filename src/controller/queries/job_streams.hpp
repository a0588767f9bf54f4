// job_streams.hpp: lists of jobs, served in slices. Between two slices the loop does everything
// else, so a thousand pollers cannot hold up scheduling. A stream keeps its place by job id: what
// changes between slices is harmless.
//
// A caller that does not read is waited for, without holding its list in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "controller/links/sessions.hpp"
#include "controller/queries/filters.hpp"
#include "controller/turn/durable_view.hpp"
#include "core/cluster/job_table.hpp"

namespace switchyard::wire {
class JobsQuery;
}  // namespace switchyard::wire

namespace switchyard::controller {

struct QueryContext;

class JobStreams {
  public:
    explicit JobStreams(QueryContext& context);
    ~JobStreams();

    // What is in memory; the first slice at once.
    void start(Session& session, std::uint64_t request, const wire::JobsQuery& query);
    // What the store holds (history.cpp).
    void start_history(Session& session, std::uint64_t request, const wire::JobsQuery& query);

  private:
    // How much of each job is sent.
    enum class JobPart { Whole, Line, State };
    struct Stream {
        SessionId session;
        std::uint32_t uid = 0;
        std::uint64_t request = 0;
        JobMatcher match;
        bool by_state = false;    // Nothing but states, and hidden partitions, decide who is shown.
        bool all_walked = false;  // Whom the walk does not pass is shown.
        core::JobTable::Walk walk = core::JobTable::Walk::All;
        bool with_steps = false;
        JobPart part = JobPart::Whole;
        std::vector<std::string> hidden;        // Partitions that this caller is not shown.
        std::optional<std::vector<JobId>> ids;  // These, or all jobs.
        std::size_t place = 0;                  // In ids.
        JobId after{0};                         // Without ids: the last one looked at.
        std::optional<StepKey> steps_from;      // Of the last job: those that are still to come.

        bool hides(std::string_view partition) const;
        // A job that waits in several partitions is shown while one of them is.
        bool hides(const model::Job& job) const;
    };
    struct History;

    void begin(Session& session, std::uint64_t request, const wire::JobsQuery& query);
    Result<Stream> open(Session& session, std::uint64_t request,
                        const wire::JobsQuery& query) const;
    // Encodes and sends one slice; false when it was the last.
    bool serve(Stream& stream, Session& session);
    bool fill_slice(Stream& stream);  // True: there is more.
    // Refuses one list too many; the answer that ends a list gives its place back.
    bool take_place(Session& session, std::uint64_t request);
    void end_list(SessionId session, const std::string& frame);
    void go_on(std::unique_ptr<Stream> stream);
    void post_turn();
    void turn();
    void fetch_history(const std::shared_ptr<History>& history);

    void offer(Stream& stream, core::JobTable::const_iterator job);
    // One whose record on disk is another.
    void offer_stored(Stream& stream, const DurableView::Stored& stored);
    const std::map<StepKey, model::Step>& steps_of(JobId job) const;

    QueryContext& context_;
    // What is being encoded. Kept, because to fill it again costs no allocations.
    class Slice;
    std::unique_ptr<Slice> slice_;
    // By user: whoever asks for many lists holds up none but his own.
    std::map<std::uint32_t, std::deque<std::unique_ptr<Stream>>> ready_;
    std::uint32_t last_served_ = 0;
    bool turn_posted_ = false;
};

}  // namespace switchyard::controller
