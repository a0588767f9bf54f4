// controller.hpp: the shell around the core. One thread (this one) owns the loop, the connections
// and the Cluster.
//
// An event is stepped when it arrives. Once per turn of the loop, unless a commit is under way, the
// batch is sealed: one scheduling pass, the changed records and the answers encoded; the store's
// thread writes it; then the answers and orders go out. While it writes, events go on being stepped
// and make up the next batch. So a lone submission waits for one sync, and a thousand share one.
//
// It is made in three steps (start/start.hpp): the state is opened, the cluster recovered from it,
// and then it serves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "controller/links/agents.hpp"
#include "controller/links/calls.hpp"
#include "controller/links/sessions.hpp"
#include "controller/names/addresses.hpp"
#include "controller/names/names.hpp"
#include "controller/programs/job_programs.hpp"
#include "controller/programs/mailer.hpp"
#include "controller/programs/trigger_programs.hpp"
#include "controller/queries/job_streams.hpp"
#include "controller/queries/pids.hpp"
#include "controller/queries/reader_thread.hpp"
#include "controller/requests/dispatcher.hpp"
#include "controller/start/opened.hpp"
#include "controller/start/page_check.hpp"
#include "controller/turn/committer.hpp"
#include "controller/turn/durable_view.hpp"
#include "controller/turn/figures.hpp"
#include "controller/turn/launch.hpp"
#include "controller/turn/outbox.hpp"
#include "controller/turn/payloads.hpp"
#include "controller/turn/what_now.hpp"
#include "core/cluster/cluster.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"
#include "store/store.hpp"
#include "wire/channel.hpp"

namespace switchyard::controller {

class Controller {
  public:
    // A cluster that was recovered from this store. Nobody is connected yet.
    Controller(io::Loop& loop, os::Log& log, Opened opened, Recovered recovered);
    ~Controller();
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;

    // Listens for commands and agents, and gives again what was owed.
    Status serve();
    // Lets the present commit end, then stops the loop.
    void stop();
    // Re-reads the configuration. Nothing changes if it has an error; otherwise the core answers
    // the token.
    Status reconfigure(std::optional<core::Token> token);
    // At once, with a core file. Whatever was acknowledged is on disk.
    void abort();
    int exit_code() const { return exit_code_; }
    // A commit finds no room on the disk, and is tried again and again.
    bool store_is_full() const { return store_full_; }

  private:
    struct Sealed {
        std::vector<core::Changes> changes;  // That the batch holds.
        store::Batch batch;
        Outbox outbox;
        std::vector<JobId> wanted;  // Payloads to read back.
    };
    Status listen();
    Status listen_for_remote_agents();

    Dispatcher make_dispatcher();
    void on_session_gone(Session& session, bool path_broke);

    // full_disk.cpp
    struct Unwritten {  // A submission that is not on disk.
        SessionId session;
        std::uint64_t request = 0;
        JobId job;
    };
    void refuse_unwritten();
    void withdraw_jobs(const std::vector<Unwritten>& refused);

    // controller.cpp: the turn
    Instant now() const { return std::max(now_, loop_.now()); }
    void step(core::Event event);
    void request_seal();
    void seal();
    void on_committed(Committer::Outcome outcome);
    void on_store_full(const std::string& why);
    void arm_wakeup();

    // changes.cpp: changed records as rows of the batch
    void add_changes(const core::Changes& changes, store::Batch& batch);
    // Takes those of the core; they go with the next batch.
    const core::Changes& hold_changes();
    const core::Changes& seal_changes(Sealed& sealed);
    void log_job(const model::Job& job);
    void drop_payloads(const core::Changes& changes, store::Batch& batch);
    void purge();

    // effects.cpp: effects as outgoing messages
    class EffectWriter;
    void translate(const std::vector<core::Effect>& effects, Sealed& sealed);
    void carry_out(Outbox& outbox, const std::map<JobId, Bulk>& payloads);
    LaunchContext launch_context() const;
    void defer_launch(const model::Job& job, const std::string& node, const StepKey& key,
                      const core::Effect& order);
    void launch(const ToLaunch& order, const std::map<JobId, Bulk>& payloads);
    void give_up_launch(const std::string& node, const StepKey& key, const std::string& why);
    void expect_step_launch(const std::string& node, const StepKey& key, std::string launch);

    io::Loop& loop_;
    os::Log& log_;
    std::shared_ptr<WhatNow> what_now_;
    config::Config config_;
    std::uint32_t slurm_user_;  // Its uid.
    wire::PresharedKey key_;
    std::unique_ptr<core::Cluster> cluster_;
    Instant now_{};
    Figures figures_;

    Names names_;
    store::RowEncoder rows_;
    Payloads payloads_;
    Sessions sessions_;
    Calls calls_;
    Agents agents_;
    Addresses addresses_;
    QueryContext queries_;
    JobStreams streams_;
    Pids pids_;
    Dispatcher dispatcher_;
    Mailer mailer_;
    TriggerPrograms trigger_programs_;
    JobPrograms job_programs_;
    io::Loop::Timer abort_timer_;

    std::optional<store::Purge> purge_;  // Goes with the next batch.
    io::Loop::Timer purge_timer_;

    // srun's command lines, until their steps have ended. Those of srun --async are in the store.
    std::map<StepKey, Bulk> step_launches_;
    // Steps that a node should start but whose command line was lost with the last controller:
    // their srun comes back with it, or the step is given up.
    struct Orphan {
        std::map<std::string, std::string> launches;  // By node.
        io::Loop::Timer timer;
    };
    std::map<StepKey, Orphan> orphans_;

    // Launches that wait for the name service, by node.
    std::map<std::pair<std::string, StepKey>, core::Effect> deferred_launches_;

    bool dirty_ = false;  // Something was stepped since the last seal.
    bool seal_posted_ = false;
    bool committing_ = false;
    bool store_full_ = false;
    bool stopping_ = false;
    int exit_code_ = 0;
    bool restoring_ = false;  // As the store has it.
    std::vector<core::Changes> committing_changes_;
    Outbox committing_outbox_;
    core::Changes held_changes_;              // Taken from the core before their time ...
    std::vector<core::Effect> held_effects_;  // ... and effects.
    io::Loop::Timer wakeup_;

    std::unique_ptr<wire::Listener> clients_, local_agents_, remote_agents_;
    DurableView durable_;
    // Last: their threads end before anything they could call is gone.
    ReaderThread reader_;
    Committer committer_;
    std::optional<PageCheck> page_check_;
};

}  // namespace switchyard::controller
