// update_node_keys.cpp: what `scontrol update` can change of a node.
#include <fmt/format.h>

#include "cli/job_ids.hpp"
#include "cli/scontrol/update_key.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {
namespace {

using model::NodeUpdate;

Status set_node_state(NodeUpdate& update, const KeyWord& word, Instant) {
    struct Verb {
        std::string_view word;
        model::NodeVerb verb;
    };
    constexpr Verb kVerbs[] = {
        {"DRAIN", model::NodeVerb::Drain},     {"DRAINED", model::NodeVerb::Drain},
        {"UNDRAIN", model::NodeVerb::Undrain}, {"RESUME", model::NodeVerb::Resume},
        {"DOWN", model::NodeVerb::Down},       {"FAIL", model::NodeVerb::Fail},
        {"IDLE", model::NodeVerb::Idle},       {"CANCEL_REBOOT", model::NodeVerb::CancelReboot},
    };
    for (const Verb& verb : kVerbs) {
        if (!equals_ignoring_case(text_of(word), verb.word)) continue;
        update.verb = verb.verb;
        return {};
    }
    if (starts_with_ignoring_case(text_of(word), "POWER_")) {
        return fail(Errc::InvalidArgument,
                    fmt::format("{}: nodes are not switched on and off here: there is no power "
                                "saving\nRequest aborted",
                                word.typed));
    }
    return fail(Errc::InvalidArgument,
                fmt::format("Invalid input: {}\nRequest aborted\nValid states are: CANCEL_REBOOT "
                            "DOWN DRAIN FAIL IDLE RESUME UNDRAIN\nNot all states are valid given "
                            "a node's prior state",
                            word.typed));
}

Status set_node_names(NodeUpdate& update, const KeyWord& word, Instant) {
    SY_TRY(update.nodes, nodes_of(word));
    return {};
}
Status set_node_reason(NodeUpdate& update, const KeyWord& word, Instant) {
    update.reason = text_of(word);
    return {};
}
Status set_weight(NodeUpdate& update, const KeyWord& word, Instant) {
    const auto weight = number_of(word);
    if (!weight) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid value {} for {}", word.typed, word.key));
    }
    update.weight = *weight;
    return {};
}
// One for all nodes, or as many as there are nodes: "i-[1-4]".
template <std::optional<std::vector<std::string>> NodeUpdate::* Member>
Status set_each(NodeUpdate& update, const KeyWord& word, Instant) {
    if (text_of(word).empty()) {
        (update.*Member).emplace();
        return {};
    }
    SY_TRY(update.*Member, nodes_of(word));
    return {};
}
Status set_resume_after(NodeUpdate& update, const KeyWord& word, Instant) {
    const auto seconds = parse_int(text_of(word));
    if (!seconds || *seconds < -1 || *seconds > std::numeric_limits<std::uint32_t>::max()) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid value {} for {}", word.typed, word.key));
    }
    update.resume_after = Seconds{*seconds};
    return {};
}
template <std::optional<std::vector<std::string>> NodeUpdate::* kList>
Status set_features(NodeUpdate& update, const KeyWord& word, Instant) {
    update.*kList = split_list(text_of(word));
    return {};
}

const Key<NodeUpdate> kNodeKeys[] = {
    {"NodeName", set_node_names},
    {"ActiveFeatures", set_features<&NodeUpdate::active_features>},
    {"AvailableFeatures", set_features<&NodeUpdate::features>},
    {"Features", set_features<&NodeUpdate::features>},
    {"CertToken", refuse_key<NodeUpdate>},
    {"Comment", set_text<NodeUpdate, &NodeUpdate::comment>},
    {"CpuBind", refuse_key<NodeUpdate>},
    {"Extra", set_text<NodeUpdate, &NodeUpdate::extra>},
    {"Gres", refuse_key<NodeUpdate>},
    {"InstanceId", set_each<&NodeUpdate::instance_ids>},
    {"InstanceType", set_each<&NodeUpdate::instance_types>},
    {"NodeAddr", set_each<&NodeUpdate::addresses>},
    {"NodeHostname", set_each<&NodeUpdate::host_names>},
    {"Reason", set_node_reason},
    {"ResumeAfter", set_resume_after},
    {"Topology", refuse_key<NodeUpdate>},
    {"State", set_node_state},
    {"Weight", set_weight},
};

}  // namespace

Result<NodeUpdate> parse_node_change(const std::vector<KeyWord>& words) {
    NodeUpdate update;
    for (const KeyWord& word : words) {
        SY_CHECK(apply(std::span<const Key<NodeUpdate>>(kNodeKeys), update, word, Instant{}));
    }
    if (words.size() < 2) return fail(Errc::InvalidArgument, std::string(kNoChanges));
    const bool takes_away = update.verb == model::NodeVerb::Drain ||
                            update.verb == model::NodeVerb::Down ||
                            update.verb == model::NodeVerb::Fail;
    if (takes_away && update.reason.value_or("").empty()) {
        return fail(Errc::InvalidArgument,
                    "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    }
    const bool returns =
        update.verb == model::NodeVerb::Drain || update.verb == model::NodeVerb::Down;
    if (update.resume_after && !returns) {
        return fail(Errc::InvalidArgument,
                    "You can only specify a resume time when DOWNING or DRAINING a node. Request "
                    "denied");
    }
    return update;
}

}  // namespace switchyard::cli
