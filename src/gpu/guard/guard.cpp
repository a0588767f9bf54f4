#include "gpu/guard/guard.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "gpu/guard/driver.hpp"
#include "gpu/guard/old_glibc.hpp"

namespace switchyard::guard {
namespace {

// Counted for the driver's own memory of a process where NVML does not tell.
constexpr std::uint64_t kContextGuess = 256ull << 20;
constexpr unsigned kProcessListMax = 512;

alignas(Guard) unsigned char storage[sizeof(Guard)];
pthread_once_t once = PTHREAD_ONCE_INIT;

class Locked {
  public:
    explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Locked() { pthread_mutex_unlock(&mutex_); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    pthread_mutex_t& mutex_;
};

// "GPU-12345678-1234-...": as NVML and nvidia-smi write it.
void write_uuid(const Uuid& uuid, char* to, std::size_t size) {
    const unsigned char* b = uuid.bytes;
    snprintf(to, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

// What the driver says that this process holds of a card; 0 if it does not say.
std::uint64_t driver_says(const char* uuid) {
    using Call = int (*)();
    using ByUuid = int (*)(const char*, void**);
    using ByIndex = int (*)(unsigned, void**);
    using List = int (*)(void*, unsigned*, NvmlProcess*);
    const auto init = reinterpret_cast<Call>(nvml_function("nvmlInit_v2"));
    const auto by_uuid = reinterpret_cast<ByUuid>(nvml_function("nvmlDeviceGetHandleByUUID"));
    const auto by_index = reinterpret_cast<ByIndex>(nvml_function("nvmlDeviceGetHandleByIndex_v2"));
    const auto list =
        reinterpret_cast<List>(nvml_function("nvmlDeviceGetComputeRunningProcesses_v3"));
    if (init == nullptr || list == nullptr || init() != 0) return 0;
    void* device = nullptr;
    const bool any = strcmp(uuid, "*") == 0;
    const bool found = any ? by_index != nullptr && by_index(0, &device) == 0
                           : by_uuid != nullptr && by_uuid(uuid, &device) == 0;
    static NvmlProcess processes[kProcessListMax];
    unsigned count = kProcessListMax;
    if (!found || list(device, &count, processes) != 0) return 0;
    for (unsigned i = 0; i < count && i < kProcessListMax; ++i) {
        const bool known = processes[i].used != ~0ull;
        if (processes[i].pid == static_cast<unsigned>(getpid()) && known) return processes[i].used;
    }
    return 0;
}

__attribute__((destructor)) void print_at_exit() { Guard::get().print_counts(); }

}  // namespace

Guard& Guard::get() {
    pthread_once(&once, [] { (new (storage) Guard())->read_environment(); });
    return *std::launder(reinterpret_cast<Guard*>(storage));
}

void Guard::after_fork() {
    Guard& guard = *std::launder(reinterpret_cast<Guard*>(storage));
    pthread_mutex_init(&guard.lock_, nullptr);
    guard.ledger_.forget_place();
    for (unsigned i = 0; i < guard.cards_count_; ++i) {
        guard.cards_[i].context_counted = false;
        guard.cards_[i].pacer.forget_after_fork();
    }
}

void Guard::read_environment() {
    const char* text = getenv("SWITCHYARD_GUARD");
    if (text == nullptr) return;
    static char copy[8192];
    snprintf(copy, sizeof(copy), "%s", text);
    const char* ledger = nullptr;
    char* rest = nullptr;
    for (char* item = strtok_r(copy, ";", &rest); item != nullptr;
         item = strtok_r(nullptr, ";", &rest)) {
        if (strncmp(item, "job=", 4) == 0) job_ = strtoull(item + 4, nullptr, 10);
        if (strncmp(item, "ledger=", 7) == 0) ledger = item + 7;
        if (strcmp(item, "strict") == 0) strict_ = true;
        if (strcmp(item, "stats") == 0) stats_ = true;
        if (strncmp(item, "card=", 5) == 0) read_card(item + 5);
    }
    ledger_.open(ledger);
    pthread_atfork(nullptr, nullptr, after_fork);
}

// "GPU-uuid,16,64,/path/of/turns", and the limit in bytes where the driver keeps one: it then tells
// less of the card's memory than there is, and a part of that would be too little.
void Guard::read_card(char* text) {
    if (cards_count_ == kCardsMax) return;
    Card& card = cards_[cards_count_];
    char* rest = nullptr;
    const char* uuid = strtok_r(text, ",", &rest);
    const char* weight = strtok_r(nullptr, ",", &rest);
    const char* total = strtok_r(nullptr, ",", &rest);
    const char* turns = strtok_r(nullptr, ",", &rest);
    const char* limit = strtok_r(nullptr, ",", &rest);
    if (uuid == nullptr || weight == nullptr || total == nullptr) return;
    snprintf(card.uuid, sizeof(card.uuid), "%s", uuid);
    card.weight = static_cast<std::uint32_t>(strtoul(weight, nullptr, 10));
    card.total = static_cast<std::uint32_t>(strtoul(total, nullptr, 10));
    if (limit != nullptr) card.limit = strtoull(limit, nullptr, 10);
    if (card.weight == 0 || card.total < card.weight) return;
    card.pacer.open(turns, {card.weight, card.total, job_, strict_});
    ++cards_count_;
}

int Guard::card_by_uuid(const char* text) const {
    for (unsigned i = 0; i < cards_count_; ++i) {
        if (strcmp(cards_[i].uuid, text) == 0 || strcmp(cards_[i].uuid, "*") == 0) {
            return static_cast<int>(i);
        }
    }
    return kNoCard;
}

int Guard::card_of(DeviceNumber device) {
    if (device < 0 || static_cast<unsigned>(device) >= kDevicesMax) return kNoCard;
    std::atomic<int>& known = device_cards_[device];
    if (const int card = known) return card - 2;
    using Call = Result (*)(Uuid*, DeviceNumber);
    // The second version tells the parts of a card (MIG) apart.
    const auto v2 = SY_DRIVER("cuDeviceGetUuid_v2", Call);
    const auto ask = v2 != nullptr ? v2 : SY_DRIVER("cuDeviceGetUuid", Call);
    Uuid uuid{};
    if (ask == nullptr || ask(&uuid, device) != kCudaSuccess) return kNoCard;
    char text[48];
    write_uuid(uuid, text, sizeof(text));
    int card = card_by_uuid(text);
    if (card == kNoCard) {
        memcpy(text, "MIG", 3);
        card = card_by_uuid(text);
    }
    if (card != kNoCard) cards_[card].device = device;
    known = card + 2;
    return card;
}

int Guard::current_card() {
    const auto ask = SY_DRIVER("cuCtxGetDevice", Result(*)(DeviceNumber*));
    DeviceNumber device = -1;
    if (ask == nullptr || ask(&device) != kCudaSuccess) return kNoCard;
    return card_of(device);
}

std::uint64_t Guard::limit_of(unsigned card) {
    std::uint64_t memory = cards_[card].memory;
    if (memory == 0) {
        const auto ask = SY_DRIVER("cuDeviceTotalMem_v2", Result(*)(std::size_t*, DeviceNumber));
        std::size_t bytes = 0;
        if (ask != nullptr && ask(&bytes, cards_[card].device) == kCudaSuccess) memory = bytes;
        cards_[card].memory = memory;
    }
    return limit_of(card, memory);
}

void Guard::count_context(unsigned card) {
    bool counted = false;
    if (!cards_[card].context_counted.compare_exchange_strong(counted, true)) return;
    const std::uint64_t told = driver_says(cards_[card].uuid);
    ledger_.charge_always(card, told == 0 ? kContextGuess : told);
}

std::uint64_t Guard::job_holds(unsigned card) {
    count_context(card);
    return ledger_.job_holds(card);
}

bool Guard::reserve(unsigned card, std::uint64_t bytes) {
    if (!cards_[card].context_counted) count_context(card);
    return ledger_.charge(card, bytes, limit_of(card));
}

void Guard::keep(Kind kind, std::uint64_t key, unsigned card, std::uint64_t bytes) {
    const auto current = SY_DRIVER("cuCtxGetCurrent", Result(*)(Context*));
    Context context = nullptr;
    if (current != nullptr) current(&context);
    Holding holding;
    holding.kind = kind;
    holding.card = static_cast<std::uint8_t>(card);
    holding.key = key;
    holding.bytes = bytes;
    holding.link = reinterpret_cast<std::uint64_t>(context);
    put_back(holding);
}

void Guard::put_back(const Holding& holding) {
    const Locked locked(lock_);
    holdings_.insert(holding);
}

bool Guard::let_go(Kind kind, std::uint64_t key, Holding* holding) {
    const Locked locked(lock_);
    return holdings_.take(kind, key, holding);
}

void Guard::credit_context(unsigned card, Context context) {
    const Locked locked(lock_);
    Holding holding;
    while (holdings_.take_of_context(card, context, &holding)) credit(holding);
}

void Guard::refer(MemoryHandle handle) {
    const Locked locked(lock_);
    holdings_.add_references(handle, 1);
}

void Guard::unrefer(MemoryHandle handle) {
    const Locked locked(lock_);
    Holding holding;
    if (holdings_.add_references(handle, -1) != 0) return;
    if (holdings_.take(Kind::Handle, handle, &holding)) credit(holding);
}

void Guard::keep_mapping(DevicePointer at, std::size_t bytes, MemoryHandle handle) {
    const Locked locked(lock_);
    if (holdings_.add_references(handle, 1) < 0) return;
    Holding mapping;
    mapping.kind = Kind::Mapping;
    mapping.key = at;
    mapping.bytes = bytes;
    mapping.link = handle;
    holdings_.insert(mapping);
}

void Guard::drop_mappings(DevicePointer at, std::size_t bytes) {
    const DevicePointer end = at + bytes;
    Holding mapping;
    while (at < end && let_go(Kind::Mapping, at, &mapping)) {
        unrefer(mapping.link);
        if (mapping.bytes == 0) return;
        at += mapping.bytes;
    }
}

void Guard::before_launch(Stream stream) {
    // Nearly always there is one card, and asking for the current one costs more than the rest.
    const int card = cards_count_ == 1 ? 0 : current_card();
    if (card != kNoCard && cards_[card].pacer.is_open()) cards_[card].pacer.before_launch(stream);
}

void Guard::capture_begins() {
    for (unsigned i = 0; i < cards_count_; ++i) cards_[i].pacer.capture_begins();
}

void Guard::capture_ended() {
    for (unsigned i = 0; i < cards_count_; ++i) cards_[i].pacer.capture_ended();
}

void Guard::print_counts() const {
    for (unsigned i = 0; stats_ && i < cards_count_; ++i) cards_[i].pacer.print_count();
}

void Guard::stream_is_gone(Stream stream) {
    for (unsigned i = 0; i < cards_count_; ++i) cards_[i].pacer.stream_is_gone(stream);
}

}  // namespace switchyard::guard
