// flow.hpp: jobs through the real core: submitted, launched, ended, nodes failing in between.
//
// The shell here is as thin as can be: one event, one step and one scheduling pass, effects carried
// out a moment later. What is timed is the core alone, which is what one thread of a controller
// would have to do besides reading sockets and writing the store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/cluster/cluster.hpp"
#include "sim/random.hpp"
#include "sim/scale/figures.hpp"
#include "sim/scale/site.hpp"

namespace switchyard::sim::scale {

struct FlowOptions {
    core::Settings settings;
    double node_failures_per_day = 0;  // In all.
    bool progress = false;
};

class Flow {
  public:
    Flow(FlowOptions options, Instant from);

    // All of the stream, to the end of the last job.
    void run(Stream& stream);
    // A submission, in a turn of its own.
    double submit(const Work& work);
    // A submission whose end nobody will wait for. Returns its microseconds.
    double submit_unseen(const Work& work);
    // One turn: what came, one scheduling pass. Returns its microseconds.
    double turn(const core::Event& event);
    // Plans and whatever else is due by `at`. Returns the microseconds of its turns.
    Distribution pass_time(Instant at);
    void report(Report& report) const;
    bool all_ended() const;

    core::Cluster& cluster() { return *cluster_; }
    Instant now() const { return now_; }
    std::uint64_t started() const { return started_; }
    const Distribution& turns() const { return turns_; }
    // What makes a running job end, as its node would say it.
    core::Event end_of(JobId job) const;
    JobId any_running() const;

  private:
    struct Fate {
        Seconds runs, limit;
        Instant arrived;
        int exit_code;
        bool cancelled, ran;
    };
    enum class Kind : std::uint8_t { Ended, Clean, Lost, Back, Cancel };
    struct Coming {
        Instant at;
        std::uint64_t sequence;
        Kind kind;
        JobId job;
        Attempt attempt;
        std::uint32_t node;
        friend bool operator>(const Coming& a, const Coming& b) {
            return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
        }
    };
    void later(Millis wait, Kind kind, JobId job, Attempt attempt, std::uint32_t node);
    void carry_out();
    void carry_out(const core::Effect& effect);
    void happen(const Coming& coming);
    void began(JobId job, Attempt attempt, std::uint32_t node);
    void sample();

    FlowOptions options_;
    Instant now_, first_arrival_{}, last_arrival_{}, next_sample_{};
    std::unique_ptr<core::Cluster> cluster_;
    Random random_{7};
    std::unordered_map<std::string, std::uint32_t> node_numbers_;
    std::vector<bool> lost_;
    std::unordered_map<std::uint32_t, Fate> fates_;
    std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
    std::uint64_t sequence_ = 0, started_ = 0, node_failures_ = 0, last_nonce_ = 0;
    std::uint64_t allocated_before_ = 0, allocated_most_ = 0;
    double capacity_ = 0;
    Distribution turns_, waits_, slowdowns_, queue_length_, used_share_, idle_share_, torn_cards_;
    std::uint64_t waiting_ = 0;
};

}  // namespace switchyard::sim::scale
