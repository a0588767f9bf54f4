// nonces.hpp: by what a repeated submission is recognised, and the job it made.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "core/cluster/transition.hpp"
#include "model/job.hpp"

namespace switchyard::core {

class Nonces {
  public:
    void load(const model::Job& job) {
        if (job.nonce != 0) known_.insert({job.nonce, job.spec->uid, job.id});
    }
    void observe(const Transition& transition) {
        if (transition.cause == Cause::Submitted) load(transition.job);
        if (transition.after == Phase::None) forget(transition.job);
    }
    std::optional<JobId> find(std::uint32_t uid, std::uint64_t nonce) const {
        const auto at = known_.lower_bound({nonce, uid, JobId{0}});
        if (at == known_.end() || at->value != nonce || at->uid != uid) return std::nullopt;
        return at->job;
    }

  private:
    void forget(const model::Job& job) {
        if (job.nonce != 0) known_.erase({job.nonce, job.spec->uid, job.id});
    }
    struct Nonce {
        std::uint64_t value = 0;
        std::uint32_t uid = 0;
        JobId job;
        auto operator<=>(const Nonce&) const = default;
    };
    PackedSet<Nonce> known_;
};

}  // namespace switchyard::core
