// guard.hpp: the state of the guard in one process: which cards it may use how much of, what it
// holds of them, and the way from the driver's device numbers to our cards.
//
// Told by one variable in the environment (see shares.hpp, which writes it):
//
//   SWITCHYARD_GUARD=job=12;ledger=/dev/shm/x;card=GPU-uuid,16,64,/dev/shm/turns;card=...
//
// The numbers behind a card are the job's shares and how many there are of it; behind the file of
// turns may stand the limit of its memory in bytes. A card named "*" stands for every device.
// Without the variable the guard lets everything pass.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "gpu/guard/cuda_abi.hpp"
#include "gpu/guard/holdings.hpp"
#include "gpu/guard/ledger.hpp"
#include "gpu/guard/pacer.hpp"

namespace switchyard::guard {

inline constexpr int kNoCard = -1;
inline constexpr unsigned kDevicesMax = 64;

class Guard {
  public:
    static Guard& get();  // Reads the environment when first called.

    bool is_active() const { return cards_count_ > 0; }

    // Our card behind a device number, or behind the current context; kNoCard: not guarded.
    int card_of(DeviceNumber device);
    int current_card();
    int card_by_uuid(const char* text) const;

    std::uint64_t limit_of(unsigned card, std::uint64_t total) const {
        const Card& own = cards_[card];
        if (own.limit != 0) return own.limit < total ? own.limit : total;
        return total / own.total * own.weight;
    }
    std::uint64_t limit_of(unsigned card);
    std::uint64_t job_holds(unsigned card);  // With the driver's own memory of this process.
    std::uint64_t memory_of_job(unsigned card) const { return ledger_.job_holds(card); }

    // Memory: reserve before the driver allocates; then keep it under its handle, or cancel.
    bool reserve(unsigned card, std::uint64_t bytes);
    void cancel(unsigned card, std::uint64_t bytes) { ledger_.release(card, bytes); }
    void keep(Kind kind, std::uint64_t key, unsigned card, std::uint64_t bytes);
    // Before the driver frees it, so that the key cannot come back in between.
    bool let_go(Kind kind, std::uint64_t key, Holding* holding);
    void put_back(const Holding& holding);
    void credit(const Holding& holding) { ledger_.release(holding.card, holding.bytes); }
    void credit_context(unsigned card, Context context);

    // Physical memory that is mapped: it is free when the handle and all mappings are gone.
    void refer(MemoryHandle handle);
    void unrefer(MemoryHandle handle);
    void keep_mapping(DevicePointer at, std::size_t bytes, MemoryHandle handle);
    void drop_mappings(DevicePointer at, std::size_t bytes);

    void before_launch(Stream stream);
    void capture_begins();
    void capture_ended();
    void stream_is_gone(Stream stream);
    void print_counts() const;  // If the variable asks for it (";stats").

  private:
    struct Card {
        char uuid[48] = {};
        std::uint32_t weight = 1, total = 1;
        std::uint64_t limit = 0;  // Bytes; 0: the part of what the driver tells.
        DeviceNumber device = -1;
        std::atomic<std::uint64_t> memory = 0;
        std::atomic<bool> context_counted = false;
        Pacer pacer;
    };

    void read_environment();
    void read_card(char* text);
    void count_context(unsigned card);
    static void after_fork();

    Card cards_[kCardsMax];
    unsigned cards_count_ = 0;
    std::uint64_t job_ = 0;
    bool strict_ = false, stats_ = false;
    std::atomic<int> device_cards_[kDevicesMax] = {};  // 0: not looked up; 1: none; 2 + card.
    Ledger ledger_;
    Holdings holdings_;
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace switchyard::guard
