#include "wire/user_share.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/limits.hpp"
#include "model/rights.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::wire {
namespace {

constexpr std::size_t kSharesBeforeCleaning = 1000;

}  // namespace

std::shared_ptr<UserShare> UserShares::of(std::uint32_t uid) {
    if (auto known = shares_[uid].lock()) return known;
    if (shares_.size() > kSharesBeforeCleaning)
        std::erase_if(shares_, [](const auto& each) { return each.second.expired(); });
    const auto sum = [uid](const char* what, std::size_t bytes_max) {
        if (!model::has_user_limits(uid)) bytes_max = std::numeric_limits<std::size_t>::max();
        return std::make_shared<Allowance>(fmt::format("{} of user {}", what, uid), bytes_max);
    };
    auto share = std::make_shared<UserShare>();
    share->unfinished = sum("unfinished messages", limits::kUnfinishedBytesPerUserMax);
    share->unsent = sum("unread answers", limits::kUnsentBytesPerUserMax);
    share->held = sum("requests under way", limits::kHeldBytesPerUserMax);
    shares_[uid] = share;
    return share;
}

Terms client_terms(const UserShare& share) {
    return {.frame_bytes_max = limits::kClientFrameBytesMax,
            .frames_per_turn_max = limits::kRequestsPerTurnMax,
            .frame_time_max = Seconds{limits::kFrameSecondsMax},
            .unfinished = share.unfinished,
            .unsent = share.unsent,
            .farewell = refusal_frame};
}

Result<std::shared_ptr<const std::string>> hold_bytes(const UserShare& share, std::string bytes) {
    const std::shared_ptr<Allowance> sum = share.held;
    if (sum->bytes + bytes.size() > sum->bytes_max) return switchyard::Failure{over(*sum)};
    sum->bytes += bytes.size();
    const auto let_go = [sum](const std::string* kept) {
        sum->bytes -= kept->size();
        delete kept;
    };
    return std::shared_ptr<const std::string>(new std::string(std::move(bytes)), let_go);
}

std::string refusal_frame(const Error& why) {
    Reply reply;
    reply.set_last(true);
    reply.mutable_failure()->set_code(static_cast<std::uint32_t>(why.code));
    reply.mutable_failure()->set_message(why.message);
    return reply.SerializeAsString();
}

}  // namespace switchyard::wire
