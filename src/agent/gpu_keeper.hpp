// gpu_keeper.hpp: what an agent does about its cards while it runs: it keeps the files and daemons
// that hold shares, looks at the cards, and says which jobs leave theirs idle and which card is
// ill.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/gpu_usage.hpp"
#include "agent/gpu_watch.hpp"
#include "agent/gpus.hpp"
#include "agent/mps_daemons.hpp"
#include "agent/steps.hpp"
#include "config/config.hpp"
#include "io/loop.hpp"
#include "model/node.hpp"
#include "os/log.hpp"

namespace switchyard::agent {

class GpuKeeper {
  public:
    struct Handlers {
        std::function<void()> changed;  // card_use() or problem() did.
        std::function<void(const Steps::JobKey& job, std::optional<Instant> since)> idle;
    };
    GpuKeeper(io::Loop& loop, const config::Config& config, const std::string& node,
              const NodeGpus& gpus, Steps& steps, const os::Log& log, Handlers handlers);
    ~GpuKeeper();

    // Fails if shares cannot be kept as the node says they are.
    Status start();
    void stop();

    const std::vector<model::CardUse>& card_use() const { return use_; }
    const std::string& problem() const { return problem_; }
    // Says again which jobs leave their cards idle: the controller may have missed it.
    void report_again();

  private:
    struct JobWatch {
        Instant busy_at{};
        bool told = false;
    };

    struct Asked {
        std::uint64_t number = 0;
        std::function<void()> then;
    };

    bool look(std::function<void()> then);
    void on_sight(const GpuSight& sight);
    void add_usage(const GpuSight& sight);
    void note_faults(const std::vector<gpu::CardFault>& faults);
    void judge(const GpuSight& sight);
    bool is_busy(const Steps::JobKey& job, const std::vector<model::GresGrant>& held,
                 const GpuSight& sight) const;
    bool share_is_busy(const Steps::JobKey& job, const gpu::CardSample& sample) const;

    io::Loop& loop_;
    const config::Config& config_;
    const NodeGpus& gpus_;
    Steps& steps_;
    const os::Log& log_;
    Handlers handlers_;
    std::unique_ptr<MpsDaemons> mps_;
    std::unique_ptr<GpuWatch> watch_;
    std::vector<model::CardUse> use_;
    GpuUsage usage_;
    std::string usage_file_;  // What steps used so far, for the next agent.
    std::vector<Asked> asked_;
    std::set<std::string> faults_;
    std::string problem_;
    std::map<Steps::JobKey, JobWatch> jobs_;
};

}  // namespace switchyard::agent
