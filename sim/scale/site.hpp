// site.hpp: a pretended site: its nodes and partitions, and the jobs that its people send.
//
// All of it follows from a seed. The mix is that of a large shared machine: most jobs are small,
// most of the work is in the wide ones, a fifth of the nodes has cards, limits are round figures
// that are far above what the jobs need, and many jobs are alike but for their names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/cluster/settings.hpp"
#include "model/job_spec.hpp"
#include "sim/random.hpp"

namespace switchyard::sim::scale {

inline constexpr std::uint32_t kCores = 64, kCards = 8, kSharesPerCard = 10;

// A job and what only fate knows: when it comes, how long it runs, how it ends.
struct Work {
    Instant arrives{};
    Seconds runs{0};
    int exit_code = 0;
    bool cancelled = false;  // By its user, after `runs`.
    model::JobSpec spec;
};

enum class Mix : std::uint8_t {
    Site,   // Four fifths of the nodes without cards; every kind of job.
    Cards,  // Every node has cards; whole cards, shares of cards, several nodes of cards.
    Plain,  // One partition of equal nodes, for recorded workloads.
};

core::Settings settings_for(std::uint32_t nodes, Mix mix);
core::Settings settings_for(std::uint32_t nodes, std::uint32_t cores, Mix mix);

class Source {
  public:
    Source(std::uint64_t seed, std::uint32_t nodes, Mix mix)
        : random_(seed), nodes_(nodes), mix_(mix) {}

    // Without a time of arrival; distinct in its name, its command line and its output file.
    Work next();
    Random& random() { return random_; }

  private:
    void size_small(model::JobSpec& spec);
    void size_whole(model::JobSpec& spec);
    void size_wide(model::JobSpec& spec);
    void size_cards(model::JobSpec& spec);
    void words(model::JobSpec& spec);

    Random random_;
    std::uint32_t nodes_;
    Mix mix_;
    std::uint64_t count_ = 0;
};

// How many core-seconds a job takes of the machine.
double core_seconds(const Work& work);

// Jobs in the order of their arrival.
class Stream {
  public:
    virtual ~Stream() = default;
    virtual std::optional<Work> next() = 0;
};

// `count` jobs that would keep the nodes busy by `load` for as long as they take to arrive; in
// waves of day and night and in bursts.
struct StreamOptions {
    std::uint64_t seed = 1;
    std::uint32_t count = 0, nodes = 0;
    double load = 1;
    Mix mix = Mix::Site;
    Instant from{};
};
std::unique_ptr<Stream> site_stream(const StreamOptions& options);

}  // namespace switchyard::sim::scale
