// ledger.hpp: how much memory of each card the processes of one job hold together.
//
// The ledger is a file mapped by all processes of the job. Each process writes only its own place,
// and the sum over all places is what the job holds: there is no total that a killed process could
// leave wrong. A place whose process is dead is given to the next that needs one, or cleared when
// memory runs short.
#pragma once

#include <atomic>
#include <cstdint>

namespace switchyard::guard {

inline constexpr unsigned kCardsMax = 16;
inline constexpr unsigned kProcessesMax = 512;

class Ledger {
  public:
    // Null path: this process alone.
    bool open(const char* path);

    // Adds to what this process holds, unless the job would then hold more than `limit`.
    bool charge(unsigned card, std::uint64_t bytes, std::uint64_t limit);
    // Adds whatever comes of it: what is there already, such as the driver's own memory.
    void charge_always(unsigned card, std::uint64_t bytes);
    void release(unsigned card, std::uint64_t bytes);
    std::uint64_t job_holds(unsigned card) const;
    std::uint64_t process_holds(unsigned card) const;

    // In the child of a fork: its memory of the card is not its parent's.
    void forget_place() { place_ = nullptr; }

  private:
    struct Place {
        std::atomic<std::uint32_t> pid;
        std::uint32_t unused;
        std::atomic<std::uint64_t> started;
        std::atomic<std::uint64_t> bytes[kCardsMax];
    };
    struct File {
        std::atomic<std::uint32_t> places_used;  // All places ever taken are below this.
        std::uint32_t unused[15];
        Place places[kProcessesMax];
    };

    Place* own();
    Place* claim(Place& place, unsigned at);
    bool clear_dead();

    File* file_ = nullptr;
    std::atomic<Place*> place_ = nullptr;
    Place spare_ = {};  // When all places are taken: counted for this process alone.
};

}  // namespace switchyard::guard
