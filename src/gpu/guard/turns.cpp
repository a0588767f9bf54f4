#include "gpu/guard/turns.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "gpu/guard/shared_file.hpp"

namespace switchyard::guard {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSlice = 30 * kMs;
constexpr std::uint64_t kLook = 2 * kMs;           // A waiter looks around this often.
constexpr std::uint64_t kPatience = 30'000 * kMs;  // Then it goes ahead without a turn.
constexpr std::uint64_t kLately = 1'000 * kMs;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t ns) {
    const timespec time{static_cast<time_t>(ns / 1'000'000'000u),
                        static_cast<long>(ns % 1'000'000'000u)};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &time, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_ns(std::uint64_t ns) {
    const timespec time{static_cast<time_t>(ns / 1'000'000'000u),
                        static_cast<long>(ns % 1'000'000'000u)};
    nanosleep(&time, nullptr);
}

}  // namespace

bool Turns::open(const char* path, Share share) {
    if (path == nullptr || share.weight == 0) return false;
    static_assert(sizeof(File) == kBytes);
    bool shared = false;
    void* at = map_file(path, sizeof(File), &shared);
    if (!shared) return false;
    file_ = static_cast<File*>(at);
    share_ = share;
    return true;
}

void Turns::forget_place() {
    place_ = -1;
    slice_end_ = 0;
}

bool Turns::is_mine() const {
    const int at = place_;
    return at >= 0 && file_->turn.load() == static_cast<std::uint32_t>(at) + 1;
}

bool Turns::take_place() {
    const auto self = static_cast<std::uint32_t>(getpid());
    for (unsigned at = 0; at < kTurnPlacesMax; ++at) {
        Place& place = file_->places[at];
        std::uint32_t holder = place.pid;
        if (holder != 0 && is_alive(holder, place.started)) continue;
        if (!place.pid.compare_exchange_strong(holder, self)) continue;
        place.started = start_time(self);
        place.weight = share_.weight;
        place.job = share_.job;
        place.virtual_ns = virtual_time(now_ns());
        place.wants_since = 0;
        place.last_seen = now_ns();
        std::uint32_t used = file_->places_used;
        while (used <= at && !file_->places_used.compare_exchange_weak(used, at + 1)) {
        }
        place_ = static_cast<int>(at);
        return true;
    }
    return false;
}

// How many processes of this job use the card: together they have one weight.
std::uint64_t Turns::same_job(std::uint64_t now) const {
    std::uint64_t count = 0;
    const std::uint32_t used = file_->places_used;
    for (unsigned at = 0; at < used && at < kTurnPlacesMax; ++at) {
        const Place& place = file_->places[at];
        if (place.pid != 0 && place.job == share_.job && place.last_seen + kLately > now) ++count;
    }
    return count == 0 ? 1 : count;
}

bool Turns::has_company() const {
    const int own = place_;
    const std::uint64_t now = now_ns();
    const std::uint32_t used = file_->places_used;
    for (unsigned at = 0; at < used && at < kTurnPlacesMax; ++at) {
        const Place& place = file_->places[at];
        if (static_cast<int>(at) == own || place.pid == 0) continue;
        if (place.wants_since != 0 || place.last_seen + kLately > now) return true;
    }
    return share_.strict && share_.weight < share_.total;
}

int Turns::next_waiter() const {
    int best = -1;
    std::uint64_t least = 0;
    const std::uint32_t used = file_->places_used;
    for (unsigned at = 0; at < used && at < kTurnPlacesMax; ++at) {
        const Place& place = file_->places[at];
        if (place.pid == 0 || place.wants_since == 0) continue;
        if (best >= 0 && place.virtual_ns >= least) continue;
        if (!is_alive(place.pid, place.started)) continue;
        best = static_cast<int>(at);
        least = place.virtual_ns;
    }
    return best;
}

bool Turns::holder_is_gone(std::uint32_t turn) const {
    if (turn == 0 || turn > kTurnPlacesMax) return true;
    const Place& holder = file_->places[turn - 1];
    return holder.pid == 0 || !is_alive(holder.pid, holder.started);
}

// Where the holder will stand if its slice ends now. Whoever is new starts there: what the holder
// used before others came is no debt to them.
std::uint64_t Turns::virtual_time(std::uint64_t now) const {
    const std::uint64_t began = file_->slice_began;
    const std::uint64_t start = file_->virtual_now;
    if (file_->turn == 0 || now < began) return start;
    return start + (now - began) * file_->virtual_rate / 1024;
}

// The clock of virtual time shows where the one in service started (start-time fair queueing).
void Turns::begin_slice(std::uint64_t now) {
    file_->virtual_now = file_->places[place_.load()].virtual_ns.load();
    file_->virtual_rate = 1024 * same_job(now) * share_.total / share_.weight;
    file_->slice_began = now;
    slice_start_ = now;
    slice_end_ = now + kSlice;
}

void Turns::wait_for_turn() {
    if (place_ < 0 && !take_place()) return;
    Place& mine = file_->places[place_.load()];
    const std::uint32_t me = static_cast<std::uint32_t>(place_.load()) + 1;
    rest_if_strict();
    const std::uint64_t began = now_ns();
    // Who was away does not come back with a claim on the past.
    const bool was_away = mine.last_seen + kLately < began;
    const std::uint64_t floor = was_away ? virtual_time(began) : file_->virtual_now.load();
    if (mine.virtual_ns < floor) mine.virtual_ns = floor;
    mine.last_seen = began;
    mine.wants_since = began;
    std::uint64_t now = began;
    for (;;) {
        std::uint32_t turn = file_->turn;
        if (turn == me) break;
        if (turn == 0 || holder_is_gone(turn)) {
            if (file_->turn.compare_exchange_strong(turn, me)) break;
            continue;
        }
        now = now_ns();
        if (now - began > kPatience) break;
        mine.last_seen = now;
        futex_wait(file_->turn, turn, kLook);
    }
    mine.wants_since = 0;
    now = now_ns();
    ++turns_taken_;
    waited_ns_ += now - began;
    begin_slice(now);
}

void Turns::settle_account(std::uint64_t now) {
    Place& mine = file_->places[place_.load()];
    const std::uint64_t start = slice_start_.exchange(now);
    const std::uint64_t used = now > start ? now - start : 0;
    mine.last_seen = now;
    held_ns_ += used;
    mine.virtual_ns += used * same_job(now) * share_.total / share_.weight;
    if (share_.strict) rest_until_ = start + used * share_.total / share_.weight;
}

// Strict: after using the card for t, stay away until t is no more than the share of the time.
void Turns::rest_if_strict() {
    const std::uint64_t until = rest_until_;
    const std::uint64_t now = now_ns();
    if (share_.strict && until > now) sleep_ns(until - now);
}

bool Turns::may_go_on() {
    const std::uint64_t now = now_ns();
    if (share_.strict && share_.weight < share_.total) return false;
    if (!has_claim()) return false;
    begin_slice(now);
    return true;
}

bool Turns::has_claim() {
    settle_account(now_ns());
    const int next = next_waiter();
    return next < 0 || file_->places[next].virtual_ns >= file_->places[place_.load()].virtual_ns;
}

void Turns::hand_to(std::uint32_t turn) {
    std::uint32_t me = static_cast<std::uint32_t>(place_.load()) + 1;
    if (!file_->turn.compare_exchange_strong(me, turn)) return;
    futex_wake(file_->turn);
}

void Turns::give_up() {
    if (!is_mine()) return;
    settle_account(now_ns());
    slice_end_ = 0;
    hand_to(static_cast<std::uint32_t>(next_waiter() + 1));
}

}  // namespace switchyard::guard
