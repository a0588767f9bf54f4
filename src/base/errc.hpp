// errc.hpp: every kind of failure that crosses a process boundary, with the words people know.
//
// The text of each code is what Slurm's commands print after their prefix, so that programs that
// look for those words find them. The numbers go over the wire: append, never renumber.
#pragma once

#include <cstdint>
#include <string_view>

namespace switchyard {

enum class Errc : std::uint16_t {
    Internal = 1,
    InvalidArgument = 2,  // Bad input with a message of its own.
    NotFound = 3,
    Io = 4,
    Busy = 5,         // Over a named limit.
    Unreachable = 6,  // No controller answers.
    Timeout = 7,
    ProtocolVersion = 8,
    Unsupported = 9,

    AccessDenied = 20,
    InvalidUserId = 21,
    InvalidJobId = 22,
    InvalidPartition = 23,
    InvalidNodeName = 24,
    InvalidNodeCount = 25,
    InvalidAccount = 26,
    InvalidQos = 27,
    InvalidFeature = 28,
    ActiveNotAvailable = 37,  // Active features that are not among the available ones.
    InvalidGres = 29,
    InvalidTimeLimit = 30,
    InvalidArray = 31,
    InvalidTaskCount = 32,
    InvalidNodeState = 33,
    InvalidStepId = 34,
    InvalidReservation = 35,
    InvalidLicenses = 36,
    TooManyCpus = 40,
    NodeConfigUnavailable = 41,
    PartitionUnavailable = 42,
    MemoryNotSatisfiable = 43,
    DependencyProblem = 44,
    TooManyJobs = 45,
    JobPending = 46,
    JobNotPending = 47,
    JobFinished = 48,
    JobNotRunning = 49,
    JobHeld = 50,
    JobNotSuspended = 51,
    RequeueDisabled = 52,
    JobCompleting = 53,
    NodesBusy = 54,
    ImmediateFailed = 55,  // --immediate and nothing free now.
    StepLimit = 56,
    AllocationRevoked = 57,
    NotSupportedWhileRunning = 58,
    AccountingDisabled = 59,
    TaskDistribution = 60,
    RebootInProgress = 90,
    TriggerExists = 91,
    NoSuchTrigger = 92,

    ReservationAccess = 110,
    ReservationBusy = 111,
    ReservationNotUsable = 112,
    ReservationOverlap = 113,
    NodesOutsideReservation = 114,
    DuplicateReservation = 115,
    ReservationNotSkippable = 116,
    UsersAndGroups = 117,
    InvalidTime = 118,
    InvalidGroupId = 119,
    ReservationForNobody = 120,
    CoreReservationFixed = 121,
    CoresFewerThanNodes = 122,
    InvalidTres = 123,
    InvalidCpuCount = 124,
    InvalidTimeMin = 125,
    InvalidPreference = 126,
};

// The sentence Slurm prints for this code ("Invalid job id specified", ...).
std::string_view errc_text(Errc code);

}  // namespace switchyard
