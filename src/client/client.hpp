// client.hpp: the library every command uses: one connection, one round trip, values of src/model
// out.
//
// It talks to the controller's socket on this host, else to the socket of an agent on this host,
// which relays. Blocking, no threads. A command that must watch other descriptors too (srun,
// salloc) polls fd().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "model/job.hpp"
#include "model/job_filter.hpp"
#include "model/licenses.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/sized_reservation.hpp"
#include "model/statistics.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "model/update.hpp"

namespace switchyard::wire {
class Request;
class Reply;
}  // namespace switchyard::wire

namespace switchyard::client {

class Connection {
  public:
    // Errc::Unreachable if nobody answers. `command` names the caller ("sbatch").
    // `patience`: how long to try when a controller seems to be restarting; by default some
    // seconds.
    static Result<Connection> open(const config::Config& config, std::string command,
                                   std::optional<Millis> patience = std::nullopt);
    // find_config_file + load_client_config + open: what most commands want.
    static Result<Connection> open_default(std::string command);
    ~Connection();
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) noexcept;

    // Fills id, protocol and (for a submission or step without one) nonce, sends; returns the id.
    Result<std::uint64_t> send(wire::Request& request);
    // The next reply to any request; Errc::Timeout when `wait` has passed, Errc::Unreachable when
    // the connection is lost. A Failure reply is returned as it is.
    Result<wire::Reply> receive(std::optional<Millis> wait = std::nullopt);
    // send and the first reply to it; a Failure reply becomes an Error (its notes: last_notes()).
    // When the connection is lost before the answer, what may be asked twice (queries; submissions,
    // by their nonce) is asked again over a new one, so fd() may change; everything else is
    // Errc::Unreachable.
    Result<wire::Reply> call(wire::Request& request);
    // The next reply to that request; others that come meanwhile are kept for receive().
    Result<wire::Reply> receive_for(std::uint64_t id, std::optional<Millis> wait = std::nullopt);
    // All further replies to a request whose first one was not its last. They share their memory:
    // what `take` is given lives as long as that call.
    Status receive_rest(std::uint64_t id, const std::function<Status(const wire::Reply&)>& take);
    // As call(), and all further replies: a list of jobs, unread. Each is given as the bytes of its
    // wire::JobsReply, which live as long as that call of `take`.
    Status call_for_jobs(wire::Request& request,
                         const std::function<Status(std::string_view)>& take);
    // Replies that are already read but not yet taken: check before polling fd().
    bool has_buffered_reply() const;
    int fd() const;
    // Through an agent of this host, which vouches for us, not to the controller's own socket.
    bool is_relayed() const;
    const std::vector<std::string>& last_notes() const;

  private:
    struct State;
    explicit Connection(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// The Error inside a Failure reply.
Error error_of(const wire::Reply& reply);
// For a reply of another kind than the request asks for.
Failure unexpected_answer();

// --- reading ---
struct JobsQuery {
    model::JobFilter filter;
    bool all_states = false;
    bool with_steps = false;
    bool history = false;
    std::optional<Instant> history_from, history_to;
    bool past_runs = false;  // With history: runs before a requeue, as jobs of their own.
    bool one_job = false;
    bool hidden_partitions = false;
    bool states_only = false;  // Who each job is and how it stands, nothing else of it.
    bool brief = false;        // And where, how many nodes, for how long: what is listed of jobs.
};
struct JobsChunk {
    std::vector<model::Job> jobs;
    std::vector<model::Step> steps;
    Instant now{};  // The controller's clock.
};
// Chunk by chunk, as they arrive; `each` is called at least once.
Status query_jobs(Connection& connection, const JobsQuery& query,
                  const std::function<void(JobsChunk)>& each);
// Job by job, without steps, in the least time: for long lists. What `each` is given lives as long
// as that call.
Status list_jobs(Connection& connection, const JobsQuery& query,
                 const std::function<void(const model::Job&, Instant now)>& each);
// The same, gathered.
Result<JobsChunk> fetch_jobs(Connection& connection, const JobsQuery& query);
struct NodesAnswer {
    std::vector<model::Node> nodes;
    Instant now{};
};
// `conceal`: without the names of partitions that the caller is not shown unasked.
Result<NodesAnswer> fetch_nodes(Connection& connection, const std::vector<std::string>& names = {},
                                bool conceal = false);
Result<std::vector<model::Partition>> fetch_partitions(Connection& connection);
// Both, asked at once: one round trip.
struct ClusterAnswer {
    std::vector<model::Partition> partitions;
    NodesAnswer nodes;
};
Result<ClusterAnswer> fetch_cluster(Connection& connection);

struct ReservationsAnswer {
    std::vector<model::SizedReservation> reservations;
    Instant now{};
};
// All, or the one of that name, if there is one.
Result<std::vector<model::Trigger>> fetch_triggers(Connection& connection);
Result<ReservationsAnswer> fetch_reservations(Connection& connection, const std::string& name = {});
struct LicensesAnswer {
    std::vector<model::LicenseUse> licenses;
    Instant now{};
};
Result<LicensesAnswer> fetch_licenses(Connection& connection);
// Of the controller: "26.05.0".
Result<std::string> fetch_version(Connection& connection);
Result<model::Statistics> fetch_statistics(Connection& connection);
Status reset_statistics(Connection& connection);

// --- changing: bulk requests answer with what went wrong for which job ---
struct Problem {
    std::string job;
    Errc code;
};
struct BulkAnswer {
    std::vector<Problem> problems;
    std::uint32_t matched = 0;
    std::vector<std::string> touched;
};
struct SignalOptions {
    int signal = 0;  // 0: end the job.
    bool batch_only = false, full = false, hurry = false;
    std::string admin_comment{};  // --admin-comment
};
Result<BulkAnswer> signal_jobs(Connection& connection, const model::JobFilter& filter,
                               const SignalOptions& options);
Result<BulkAnswer> update_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                               const model::JobUpdate& update);
Result<BulkAnswer> hold_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                             bool hold, bool as_user);
struct RequeueWish {
    bool hold = false, incomplete_only = false;
    bool special_exit = false;  // Held, and shown as such.
};
Result<BulkAnswer> requeue_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                                const RequeueWish& wish);
Result<BulkAnswer> suspend_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                                bool resume);
Result<BulkAnswer> top_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs);
Status update_nodes(Connection& connection, const model::NodeUpdate& update);
Status update_partition(Connection& connection, const model::PartitionUpdate& update);
// The name of what was made, or changed.
Result<std::string> update_reservation(Connection& connection,
                                       const model::ReservationUpdate& update);

}  // namespace switchyard::client
