#include "model/partition.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace switchyard::model {

std::string_view to_string(PartitionState state) {
    switch (state) {
        case PartitionState::Up:
            return "UP";
        case PartitionState::Down:
            return "DOWN";
        case PartitionState::Drain:
            return "DRAIN";
        case PartitionState::Inactive:
            return "INACTIVE";
    }
    return "UNKNOWN";
}

Result<PartitionState> parse_partition_state(std::string_view text) {
    for (const PartitionState state : {PartitionState::Up, PartitionState::Down,
                                       PartitionState::Drain, PartitionState::Inactive}) {
        if (equals_ignoring_case(text, to_string(state))) return state;
    }
    return fail(Errc::InvalidArgument, fmt::format("Invalid partition state: {}", text));
}

std::string_view to_string(PreemptMode mode) {
    switch (mode) {
        case PreemptMode::Off:
            return "OFF";
        case PreemptMode::Cancel:
            return "CANCEL";
        case PreemptMode::Requeue:
            return "REQUEUE";
        case PreemptMode::Suspend:
            return "SUSPEND";
    }
    return "UNKNOWN";
}

Result<PreemptWords> parse_preempt_mode(std::string_view text) {
    PreemptWords words;
    bool named = false;
    for (const std::string_view word : split(text, ',')) {
        if (equals_ignoring_case(word, "GANG")) {
            words.gang = true;
            continue;
        }
        bool known = false;
        for (const PreemptMode mode :
             {PreemptMode::Off, PreemptMode::Cancel, PreemptMode::Requeue, PreemptMode::Suspend}) {
            if (!equals_ignoring_case(word, to_string(mode))) continue;
            known = true;
            words.mode = mode;
        }
        if (!known || std::exchange(named, true))
            return fail(Errc::InvalidArgument, fmt::format("PreemptMode={} invalid", text));
    }
    if (words.gang && named && words.mode == PreemptMode::Off)
        return fail(Errc::InvalidArgument, fmt::format("PreemptMode={} invalid", text));
    return words;
}

}  // namespace switchyard::model
