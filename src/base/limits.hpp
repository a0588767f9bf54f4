// limits.hpp: every queue, loop, message and file has a limit with a name. Over the limit is a
// clear error to that caller, never a stall for the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard::limits {

inline constexpr std::size_t kFrameBytesMax = 64u << 20;
inline constexpr std::size_t kScriptBytesMax = 4u << 20;
inline constexpr std::size_t kEnvironmentBytesMax = 8u << 20;
inline constexpr std::size_t kConnectionsMax = 16384;
inline constexpr std::size_t kRequestsInFlightPerConnectionMax = 4096;
inline constexpr std::size_t kOutboxBytesMax = 256u << 20;  // Per connection, before it is closed.
inline constexpr std::size_t kJobsPerReplyChunk = 1000;
inline constexpr std::uint32_t kNodesMax = 1u << 17;
inline constexpr std::uint32_t kTasksMax = 1u << 20;
inline constexpr std::uint32_t kHostlistNamesMax = 1u << 20;  // One expression expands to so many.
inline constexpr std::uint32_t kIndexSetIntervalsMax =
    1u << 22;                                                 // One "0-9:2,..." list makes so many.
inline constexpr std::uint32_t kArrayElementMax = 4'000'000;  // The largest index of an array.
inline constexpr std::uint32_t kStepsPerJobMax = 40000;
inline constexpr std::size_t kTriggersMax = 10000;
inline constexpr std::size_t kSrunAddressesMax = 64;        // Tried to reach the srun of a step.
inline constexpr std::size_t kRemovedEntriesMax = 200'000;  // Of a tree that is removed at once.

// Programs that the controller runs for users: MailProg, and what strigger names. Each kind has its
// own slots; no user has more than a part of them.
inline constexpr std::size_t kUserProgramsAtOnceMax = 32;
inline constexpr std::size_t kUserProgramsAtOncePerUserMax = 8;
inline constexpr std::size_t kUserProgramsWaitingMax = 10'000;
inline constexpr std::size_t kUserProgramsWaitingPerUserMax = 2'000;
inline constexpr std::size_t kMailAddressBytesMax = 1024;
// What a node remembers of the batch scripts that began on it.
inline constexpr std::size_t kJournalScriptsMax = 10000;
inline constexpr std::uint32_t kJournalDaysMax = 30;

// Texts of a job, in bytes. The core refuses longer ones, whoever sends them.
inline constexpr std::size_t kJobNameBytesMax = 1024;
inline constexpr std::size_t kWordBytesMax = 1024;  // Account, QOS, wckey, reservation.
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kCommentBytesMax = 16u << 10;     // Comments and the like.
inline constexpr std::size_t kConstraintBytesMax = 16u << 10;  // Constraints, licenses, node lists.
inline constexpr std::size_t kSubmitLineBytesMax = 128u << 10;
inline constexpr std::size_t kSpecBytesMax = 256u
                                             << 10;  // All of a job but script and environment.

}  // namespace switchyard::limits
