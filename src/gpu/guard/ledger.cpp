#include "gpu/guard/ledger.hpp"

#include <unistd.h>

#include "gpu/guard/shared_file.hpp"

namespace switchyard::guard {
namespace {

constexpr std::uint32_t kBeingCleared = 0xffffffff;
constexpr int kAttemptsMax = 3;

}  // namespace

bool Ledger::open(const char* path) {
    bool shared = false;
    file_ = static_cast<File*>(map_file(path, sizeof(File), &shared));
    return shared;
}

Ledger::Place* Ledger::claim(Place& place, unsigned at) {
    std::uint32_t nobody = 0;
    const auto self = static_cast<std::uint32_t>(getpid());
    if (!place.pid.compare_exchange_strong(nobody, self)) return nullptr;
    for (auto& bytes : place.bytes) bytes = 0;
    place.started = start_time(self);
    std::uint32_t used = file_->places_used;
    while (used <= at && !file_->places_used.compare_exchange_weak(used, at + 1)) {
    }
    return &place;
}

Ledger::Place* Ledger::own() {
    Place* mine = place_;
    if (mine != nullptr) return mine;
    for (int attempt = 0; file_ != nullptr && mine == nullptr && attempt < 2; ++attempt) {
        for (unsigned at = 0; at < kProcessesMax && mine == nullptr; ++at) {
            mine = claim(file_->places[at], at);
        }
        if (mine == nullptr && !clear_dead()) break;
    }
    if (mine == nullptr) mine = &spare_;
    Place* nobody = nullptr;
    if (place_.compare_exchange_strong(nobody, mine)) return mine;
    // Another thread was quicker; give the second place back.
    if (mine != &spare_) mine->pid = 0;
    return nobody;
}

bool Ledger::clear_dead() {
    bool cleared = false;
    const unsigned used = file_ == nullptr ? 0 : file_->places_used.load();
    for (unsigned at = 0; at < used && at < kProcessesMax; ++at) {
        Place& place = file_->places[at];
        std::uint32_t pid = place.pid;
        if (pid == 0 || pid == kBeingCleared || &place == place_) continue;
        if (is_alive(pid, place.started)) continue;
        if (!place.pid.compare_exchange_strong(pid, kBeingCleared)) continue;
        for (auto& bytes : place.bytes) bytes = 0;
        place.started = 0;
        place.pid = 0;
        cleared = true;
    }
    return cleared;
}

bool Ledger::charge(unsigned card, std::uint64_t bytes, std::uint64_t limit) {
    if (bytes > limit) return false;
    Place& mine = *own();
    // Written before it is summed: of two processes that would pass the limit together, at least
    // one sees both. If it was the other's fault, a second look may go well.
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        mine.bytes[card] += bytes;
        if (job_holds(card) <= limit) return true;
        mine.bytes[card] -= bytes;
        if (!clear_dead() && attempt > 0) break;
    }
    return false;
}

void Ledger::charge_always(unsigned card, std::uint64_t bytes) { own()->bytes[card] += bytes; }

void Ledger::release(unsigned card, std::uint64_t bytes) {
    auto& held = own()->bytes[card];
    std::uint64_t before = held;
    while (!held.compare_exchange_weak(before, before > bytes ? before - bytes : 0)) {
    }
}

std::uint64_t Ledger::job_holds(unsigned card) const {
    std::uint64_t sum = spare_.bytes[card];
    const unsigned used = file_ == nullptr ? 0 : file_->places_used.load();
    for (unsigned at = 0; at < used && at < kProcessesMax; ++at) {
        if (file_->places[at].pid != 0) sum += file_->places[at].bytes[card];
    }
    return sum;
}

std::uint64_t Ledger::process_holds(unsigned card) const {
    const Place* mine = place_;
    return mine == nullptr ? 0 : mine->bytes[card].load();
}

}  // namespace switchyard::guard
