#include "model/partition.hpp"

#include <fmt/format.h>

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

}  // namespace switchyard::model
