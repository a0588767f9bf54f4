// gpu_watch.hpp: looks at the cards now and then, on a thread of its own, because a sick driver may
// take its time to answer. What it sees is told on the loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "gpu/card.hpp"
#include "gpu/nvml.hpp"
#include "io/loop.hpp"

namespace switchyard::agent {

struct GpuSight {
    Millis at{};              // On a clock that only goes forward, since the machine was started.
    std::uint64_t asked = 0;  // The last call of look() that came before it.
    bool extra = false;       // Made because of look(), not because its time had come.
    std::map<std::uint32_t, gpu::CardSample> samples;  // By the card's index on the node.
    std::vector<gpu::CardFault> faults;                // `index` is the card's index on the node.
};

class GpuWatch {
  public:
    using Seen = std::function<void(const GpuSight& sight)>;

    // `cards`: NVML's number of each card, by its index on the node.
    GpuWatch(io::Loop& loop, std::shared_ptr<gpu::Nvml> nvml,
             std::map<std::uint32_t, std::uint32_t> cards, Seconds period, Seen seen);
    ~GpuWatch();
    GpuWatch(const GpuWatch&) = delete;
    GpuWatch& operator=(const GpuWatch&) = delete;

    // Looks at once, besides. What it then sees has this number in `asked`, or a higher one.
    std::uint64_t look();

  private:
    void run();
    GpuSight see();

    io::Loop& loop_;
    std::shared_ptr<gpu::Nvml> nvml_;
    std::map<std::uint32_t, std::uint32_t> cards_;
    Seconds period_;
    // What the thread posts may run after this object is gone: it looks here first.
    std::shared_ptr<Seen> seen_;
    std::mutex lock_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::uint64_t asked_ = 0;
    std::thread thread_;
};

}  // namespace switchyard::agent
