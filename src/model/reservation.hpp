// reservation.hpp: nodes, some of their cores, and licenses set aside for some people for some
// time, as `scontrol create reservation` makes them.
//
// A record is the present occurrence, or the next one: what repeats moves its times on when an
// occurrence is over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/index_set.hpp"

namespace switchyard::model {

// Bits; they are stored. Append only.
enum class ReservationFlag : std::uint32_t {
    Maint = 1u << 0,       // Its nodes show as MAINT, and it may overlap others.
    Flex = 1u << 1,        // Its jobs may use other nodes and other times.
    Overlap = 1u << 2,     // It may overlap others.
    IgnoreJobs = 1u << 3,  // Running jobs are no hindrance to making it.
    Hourly = 1u << 4,      // It repeats.
    Daily = 1u << 5,
    Weekday = 1u << 6,
    Weekend = 1u << 7,
    Weekly = 1u << 8,
    SpecNodes = 1u << 9,         // Its nodes were named.
    AllNodes = 1u << 10,         // Nodes=ALL
    AnyNodes = 1u << 11,         // Licenses alone; its jobs use any nodes.
    StaticAlloc = 1u << 12,      // Nodes that were picked stay, even down.
    PartNodes = 1u << 13,        // Its nodes are those of its partition, whatever these are.
    TimeFloat = 1u << 14,        // Its start keeps its distance from now.
    Replace = 1u << 15,          // Nodes that jobs hold, or that fail, are replaced by idle ones.
    ReplaceDown = 1u << 16,      // Nodes that fail are.
    PurgeComp = 1u << 17,        // It goes when nobody has used it for a while.
    NoHoldJobsAfter = 1u << 18,  // Jobs that waited for it wait like others when it is over.
    Magnetic = 1u << 19,         // Jobs that may use it do so unasked.
    UserDelete = 1u << 20,       // Whoever may use it may delete it.
    ForceStart = 1u << 21,       // What repeats may have begun long ago.
};
using ReservationFlags = std::uint32_t;

constexpr bool has(ReservationFlags flags, ReservationFlag flag) {
    return (flags & static_cast<ReservationFlags>(flag)) != 0;
}
constexpr ReservationFlags bit(ReservationFlag flag) { return static_cast<ReservationFlags>(flag); }
inline constexpr ReservationFlags kRecurring =
    bit(ReservationFlag::Hourly) | bit(ReservationFlag::Daily) | bit(ReservationFlag::Weekday) |
    bit(ReservationFlag::Weekend) | bit(ReservationFlag::Weekly);

// A user or a group by name, and who that was when the name was given.
struct NamedUsers {
    std::string name;
    std::vector<std::uint32_t> uids;
    bool operator==(const NamedUsers&) const = default;
};

struct Reservation {
    std::uint32_t id = 0;
    std::string name;
    Instant start{}, end{};
    std::vector<std::string> nodes;
    std::optional<std::uint32_t> node_count;  // Asked for; none: the nodes were named.
    std::map<std::string, IndexSet> cores;    // Of each node; empty: the nodes are its whole.
    std::string features, partition, licenses, comment;
    ReservationFlags flags = 0;
    std::vector<NamedUsers> users, groups;
    std::vector<std::string> accounts, qos, allowed_partitions;
    // Everybody but those.
    bool users_denied = false, accounts_denied = false, qos_denied = false,
         partitions_denied = false;
    std::optional<Seconds> max_start_delay;
    Seconds purge_after{300};           // With PurgeComp.
    std::optional<Instant> idle_since;  // With PurgeComp: nobody uses it.
    std::optional<Seconds> floats;      // With TimeFloat: how far ahead its start is.
    bool operator==(const Reservation&) const = default;

    bool has_whole_nodes() const { return cores.empty(); }
    // Jobs that are there when it begins are no hindrance to making it.
    bool ignores_jobs() const { return is(ReservationFlag::IgnoreJobs) || floats.has_value(); }
    bool is(ReservationFlag flag) const { return has(flags, flag); }
    bool recurs() const { return (flags & kRecurring) != 0; }
    bool is_active(Instant now) const { return !floats && start <= now && now < end; }
    // When it begins, as people are told.
    Instant shown_start(Instant now) const { return floats ? now + *floats : start; }
};

// Times of the occurrence after the one that starts at `start`, by the clock of this host.
Instant next_occurrence(Instant start, ReservationFlags flags);

// Whether a job of this user, in this account, may run in it. `groups`: of the user, by name, as
// far as they are known.
bool admits(const Reservation& reservation, std::uint32_t uid,
            const std::vector<std::string>& groups, std::string_view account);
// Whether a job of this QOS, in any of these partitions, may.
bool admits_job(const Reservation& reservation, std::string_view qos,
                const std::vector<std::string>& partitions);

// "MAINT,SPEC_NODES", "PURGE_COMP=00:05:00"; empty: none.
std::string format_flags(const Reservation& reservation);

struct FlagChange {
    ReservationFlags set = 0, cleared = 0;
    std::optional<Seconds> purge_after;
    bool operator==(const FlagChange&) const = default;
};
// "maint,-daily,purge_comp=10"; `remove`: all of them are to go. InvalidArgument names the word
// that is none.
Result<FlagChange> parse_reservation_flags(std::string_view text, bool remove);

// A change of one list of names: "users=a,b", "users+=c", "users-=c", "users=-a".
struct NameListChange {
    enum class Mode : std::uint8_t { None = 0, Set = 1, Add = 2, Remove = 3, Deny = 4 };
    Mode mode = Mode::None;
    std::vector<NamedUsers> names;  // Accounts have no uids.
    bool operator==(const NameListChange&) const = default;
};

// What scontrol create, update and delete ask for. A field that is unset stays as it is.
struct ReservationUpdate {
    enum class Action : std::uint8_t { Update = 0, Create = 1, Delete = 2 };
    Action action = Action::Update;
    std::string name;  // Empty in a creation: one is made.
    std::optional<Instant> start, end;
    std::optional<Seconds> duration;
    std::optional<std::vector<std::string>> nodes;  // {"ALL"}: all.
    std::vector<std::string> nodes_added, nodes_removed;
    std::optional<std::uint32_t> node_count;
    std::optional<std::uint32_t> core_count;  // In all,
    bool cores_per_node = false;              // or of each node.
    std::optional<std::string> features, partition, licenses, comment;
    NameListChange users, groups, accounts, qos, allowed_partitions;
    FlagChange flags;
    std::optional<Seconds> max_start_delay;  // 0: none.
    bool skip = false;                       // The present occurrence is over.
    bool operator==(const ReservationUpdate&) const = default;
};

// A length that stands for "unlimited", as Slurm has it.
inline constexpr Seconds kUnlimitedReservation{365 * 86400};
// When a reservation of no duration ends: never, as Slurm writes it.
inline constexpr Instant kEndlessReservation{Seconds{4294967295}};

}  // namespace switchyard::model
