// agenda.hpp: what a change of one thing makes necessary for others: whether a job may be in the
// queue is to be decided anew, above all.
//
// Owners put it down here, and whoever changes jobs sees to it when the change is complete. So no
// owner calls those that called it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "core/sched/node_entry.hpp"

namespace switchyard::core {

class Agenda {
  public:
    void review(JobId job) {
        jobs_.insert(jobs_.begin() + static_cast<std::ptrdiff_t>(fresh_), job);
        ++fresh_;
    }
    // What was put down because of the one taken last comes before what was there already.
    std::optional<JobId> take() {
        fresh_ = 0;
        if (jobs_.empty()) return std::nullopt;
        const JobId job = jobs_.front();
        jobs_.pop_front();
        return job;
    }
    bool empty() const {
        return jobs_.empty() && ends_.empty() && !windows_changed_ && nodes_.empty();
    }

    // Reservations are other ones: what was planned beside them no longer holds.
    void windows_changed() { windows_changed_ = true; }
    bool take_windows_changed() { return std::exchange(windows_changed_, false); }

    // Nodes are open or described anew, so that jobs may have room.
    struct NodeNews {
        std::vector<sched::NodeIndex> opened, described;
        bool came_or_went = false;  // Some can be used now that could not be before, or no longer.
        bool redescribed = false;   // With other features.
        bool empty() const {
            return opened.empty() && described.empty() && !came_or_went && !redescribed;
        }
    };
    NodeNews& nodes() { return nodes_; }
    NodeNews take_nodes() { return std::exchange(nodes_, {}); }

    // The end of a run has moved with that of its reservation.
    void move_end(JobId job) { ends_.push_back(job); }
    std::vector<JobId> take_ends() { return std::exchange(ends_, {}); }

    // Changes within changes: the outermost looks at what is on the agenda.
    void begin_change() { ++depth_; }
    bool end_change() { return --depth_ == 0; }

  private:
    std::deque<JobId> jobs_;
    std::size_t fresh_ = 0;
    std::vector<JobId> ends_;
    bool windows_changed_ = false;
    NodeNews nodes_;
    std::uint32_t depth_ = 0;
};

}  // namespace switchyard::core
