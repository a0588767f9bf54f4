// turns.hpp: who of several processes may use a card now, in proportion to their shares.
//
// Without MPS a card runs the kernels of one process at a time anyway and switches between them
// evenly. Here the processes agree to take turns instead: memory of each card, mapped by all of
// them, says whose turn it is. A turn lasts some milliseconds; whoever has used least of the card
// for its weight comes next (weighted fair queueing on virtual time). Nobody waits when nobody else
// wants the card, so a job alone on a card has all of it, unless it is strict: then it never passes
// its share.
//
// One word says whose turn it is and changes only by compare-and-swap. A holder that died loses
// its turn to the first waiter who notices. What others write into the file can cost a process its
// fairness, never its life: waiting is bounded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace switchyard::guard {

inline constexpr unsigned kTurnPlacesMax = 256;

class Turns {
  public:
    // How long the memory is that they share; whoever makes it must know.
    static constexpr std::size_t kBytes = 64 + 56 * kTurnPlacesMax;

    struct Share {
        std::uint32_t weight = 1, total = 1;  // k of n.
        std::uint64_t job = 0;                // Processes of one job share its weight.
        bool strict = false;
    };

    // False: there is none at that path; then this process takes no turns.
    bool open(const char* path, Share share);
    bool is_open() const { return file_ != nullptr; }
    void forget_place();  // In the child of a fork.

    bool is_mine() const;
    // Blocks until it is this process's turn (or waiting has become pointless).
    void wait_for_turn();
    // Others who have used or wanted the card lately: then work must not be queued far ahead.
    bool has_company() const;
    // The slice is over. True: go on, it is still our turn; false: the card must be drained and
    // the turn given up.
    bool may_go_on();
    // In the middle of a slice: whether no waiter has used less of the card than we have.
    bool has_claim();
    // After draining: counts what was used and hands the turn on.
    void give_up();
    struct Count {
        std::uint64_t turns, held_ns, waited_ns;
    };
    Count count() const { return {turns_taken_, held_ns_, waited_ns_}; }
    std::uint64_t slice_ends() const { return slice_end_.load(std::memory_order_relaxed); }

  private:
    struct Place {
        std::atomic<std::uint32_t> pid, weight;
        std::atomic<std::uint64_t> started, job;
        std::atomic<std::uint64_t> virtual_ns;   // Time used, by weight.
        std::atomic<std::uint64_t> wants_since;  // 0: it does not wait.
        std::atomic<std::uint64_t> last_seen;
        std::uint64_t unused;
    };
    struct File {
        std::atomic<std::uint32_t> turn;  // 1 + place, or 0: nobody's. A futex.
        std::atomic<std::uint32_t> places_used;
        std::atomic<std::uint64_t> virtual_now;  // Where the present holder's slice began.
        std::atomic<std::uint64_t> slice_began;
        std::atomic<std::uint64_t>
            virtual_rate;  // Of the holder: virtual time per time, in 1/1024.
        std::uint64_t unused[4];
        Place places[kTurnPlacesMax];
    };

    bool take_place();
    void settle_account(std::uint64_t now);
    std::uint64_t same_job(std::uint64_t now) const;
    std::uint64_t virtual_time(std::uint64_t now) const;
    int next_waiter() const;
    bool holder_is_gone(std::uint32_t turn) const;
    void begin_slice(std::uint64_t now);
    void hand_to(std::uint32_t turn);
    void rest_if_strict();

    File* file_ = nullptr;
    Share share_;
    std::atomic<int> place_ = -1;
    std::atomic<std::uint64_t> slice_start_ = 0, slice_end_ = 0;
    std::atomic<std::uint64_t> rest_until_ = 0;  // Strict: not before.
    std::atomic<std::uint64_t> turns_taken_ = 0, held_ns_ = 0, waited_ns_ = 0;
};

}  // namespace switchyard::guard
