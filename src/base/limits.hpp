// limits.hpp: every queue, loop, message and file has a limit with a name. Over the limit is a
// clear error to that caller, never a stall for the others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard::limits {

inline constexpr std::size_t kFrameBytesMax = 64u << 20;
inline constexpr std::size_t kScriptBytesMax = 4u << 20;
inline constexpr std::size_t kEnvironmentBytesMax = 8u << 20;

// What clients send. Root has no limits of its own, but a single message has.
inline constexpr std::size_t kClientFrameBytesMax = 20u << 20;  // A submission with all it has.
inline constexpr std::size_t kRequestBytesMax = 1u << 20;       // That is not named here.
inline constexpr std::size_t kNodeListBytesMax = 8u << 20;      // One that may name every node.
inline constexpr std::size_t kSubmissionBytesMax = 4u << 20;    // Beside script and environment.
inline constexpr std::size_t kRequestFieldsMax = 200'000;       // With those of all parts of it.
inline constexpr std::size_t kHetComponentsMax = 128;
inline constexpr std::size_t kCronLinesMax = 1000;
inline constexpr std::size_t kSelectorsMax = 50'000;  // Jobs named in one request ...
inline constexpr std::size_t kSelectorIntervalsMax =
    100'000;  // ... and intervals of elements, in all of them.
inline constexpr std::size_t kElementSelectorsMax = 2000;  // "12_[1,3]", among them.
inline constexpr std::size_t kFilterWordsMax =
    1000;  // Names, accounts, partitions ... of a filter.
inline constexpr std::size_t kConnectionsMax = 16384;
inline constexpr std::size_t kConnectionsPerUserMax = 4096;
inline constexpr std::size_t kRelayedPerUserMax = 1024;    // Connections to one agent's socket.
inline constexpr std::size_t kListsPerConnectionMax = 16;  // Of jobs, asked for at the same time.
inline constexpr std::size_t kRequestsPerTurnMax =
    64;  // Of a connection; then others have their turn.
inline constexpr std::size_t kRequestsInFlightPerUserMax = 16384;
inline constexpr std::size_t kUnfinishedBytesPerUserMax = 64u << 20;  // Of messages half sent.
inline constexpr std::size_t kHeldBytesPerUserMax = 256u << 20;       // Of requests that wait.
inline constexpr std::size_t kUnsentBytesPerUserMax = 256u << 20;     // Of answers not read.
inline constexpr std::uint32_t kFrameSecondsMax = 60;  // From the first byte of it to the last.
inline constexpr std::size_t kStepGuestsMax = 4096;    // That srun has not heard a proof of.

// What daemons send.
inline constexpr std::size_t kReplyBytesMax = 1u << 20;    // Of a list; a longer one is cut.
inline constexpr std::size_t kLaunchBytesMax = 32u << 20;  // All that a node is told of a step.
inline constexpr std::uint32_t kCoresPerNodeMax = 1u << 16;
inline constexpr std::uint32_t kDevicesPerNodeMax = 1u << 12;
inline constexpr std::size_t kGresPerNodeMax = 1024;
inline constexpr std::size_t kStepsPerNodeMax = 1u << 16;
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
