#include "base/errc.hpp"

namespace switchyard {

std::string_view errc_text(Errc code) {
    switch (code) {
        case Errc::Internal:
            return "Unspecified error";
        case Errc::InvalidArgument:
            return "Invalid argument";
        case Errc::NotFound:
            return "No such file or directory";
        case Errc::Io:
            return "Input/output error";
        case Errc::Busy:
            return "Too many requests in flight, try again";
        case Errc::Unreachable:
            return "Unable to contact slurm controller (connect failure)";
        case Errc::Timeout:
            return "Socket timed out on send/recv operation";
        case Errc::ProtocolVersion:
            return "Incompatible versions of client and server code";
        case Errc::Unsupported:
            return "Requested operation not supported on this system";
        case Errc::AccessDenied:
            return "Access/permission denied";
        case Errc::InvalidUserId:
            return "Invalid user id";
        case Errc::InvalidJobId:
            return "Invalid job id specified";
        case Errc::InvalidPartition:
            return "Invalid partition name specified";
        case Errc::InvalidNodeName:
            return "Invalid node name specified";
        case Errc::InvalidNodeCount:
            return "Node count specification invalid";
        case Errc::InvalidAccount:
            return "Invalid account or account/partition combination specified";
        case Errc::InvalidQos:
            return "Invalid qos specification";
        case Errc::InvalidFeature:
            return "Invalid feature specification";
        case Errc::ActiveNotAvailable:
            return "Active features not subset of available features";
        case Errc::InvalidGres:
            return "Invalid generic resource (gres) specification";
        case Errc::InvalidTimeLimit:
            return "Requested time limit is invalid (missing or exceeds some limit)";
        case Errc::InvalidArray:
            return "Invalid job array specification";
        case Errc::InvalidTaskCount:
            return "Task count specification invalid";
        case Errc::InvalidNodeState:
            return "Invalid node state specified";
        case Errc::InvalidStepId:
            return "Invalid job step specification";
        case Errc::InvalidReservation:
            return "Requested reservation is invalid";
        case Errc::InvalidLicenses:
            return "Invalid license specification";
        case Errc::TooManyCpus:
            return "More processors requested than permitted";
        case Errc::NodeConfigUnavailable:
            return "Requested node configuration is not available";
        case Errc::PartitionUnavailable:
            return "Requested partition configuration not available now";
        case Errc::MemoryNotSatisfiable:
            return "Memory required by task is not available";
        case Errc::DependencyProblem:
            return "Job dependency problem";
        case Errc::TooManyJobs:
            return "Slurm temporarily unable to accept job, sleeping and retrying";
        case Errc::JobPending:
            return "Job is pending execution";
        case Errc::JobNotPending:
            return "Job is no longer pending execution";
        case Errc::JobFinished:
            return "Job/step already completing or completed";
        case Errc::JobNotRunning:
            return "Job is not running";
        case Errc::JobHeld:
            return "Job is held";
        case Errc::JobNotSuspended:
            return "Job is not suspended";
        case Errc::RequeueDisabled:
            return "Requested operation is presently disabled";
        case Errc::JobCompleting:
            return "Job is in transition state, can not perform the operation";
        case Errc::NodesBusy:
            return "Requested nodes are busy";
        case Errc::ImmediateFailed:
            return "Immediate execution impossible, insufficient priority";
        case Errc::StepLimit:
            return "Step limit reached for this job";
        case Errc::AllocationRevoked:
            return "Job allocation has been revoked";
        case Errc::NotSupportedWhileRunning:
            return "Requested operation not supported while job is running";
        case Errc::AccountingDisabled:
            return "Slurm accounting storage is disabled";
        case Errc::TaskDistribution:
            return "Task distribution specification invalid";
        case Errc::RebootInProgress:
            return "Reboot already in progress";
        case Errc::TriggerExists:
            return "Duplicate event trigger";
        case Errc::NoSuchTrigger:
            return "No such process";
        case Errc::ReservationAccess:
            return "Access denied to requested reservation";
        case Errc::ReservationBusy:
            return "Requested reservation is in use";
        case Errc::ReservationNotUsable:
            return "Requested reservation not usable now";
        case Errc::ReservationOverlap:
            return "Requested reservation overlaps with another reservation";
        case Errc::NodesOutsideReservation:
            return "Required nodes outside of the reservation";
        case Errc::DuplicateReservation:
            return "Duplicate reservation name";
        case Errc::ReservationNotSkippable:
            return "Reservation given is not skipable, try deleting instead";
        case Errc::UsersAndGroups:
            return "Reservations can't have users and groups specified, only one or the other";
        case Errc::InvalidTime:
            return "Invalid time specified";
        case Errc::InvalidGroupId:
            return "Invalid group id";
        case Errc::ReservationForNobody:
            return "Reservation request lacks users, groups or accounts";
        case Errc::CoreReservationFixed:
            return "Core-based reservation can not be updated";
        case Errc::CoresFewerThanNodes:
            return "Core count for reservation node list is not consistent!";
        case Errc::InvalidTres:
            return "Invalid Trackable RESource (TRES) specification";
        case Errc::InvalidCpuCount:
            return "CPU count specification invalid";
        case Errc::InvalidTimeMin:
            return "Invalid time-min specification (exceeds job's time or other limits)";
        case Errc::InvalidPreference:
            return "Invalid preferred feature specification";
    }
    return "Unspecified error";
}

}  // namespace switchyard
