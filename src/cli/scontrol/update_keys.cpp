// update_keys.cpp: words, and what is said of them.
#include "cli/scontrol/update_keys.hpp"

#include <fmt/format.h>

#include <limits>

#include "cli/scontrol/update_key.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {

Failure bad_value(const KeyWord& word) {
    return fail(Errc::InvalidArgument, fmt::format("scontrol: error: Invalid {} value: {}",
                                                   word.key, word.value.value_or("")));
}
Failure bad_duration(const KeyWord& word) {
    return fail(Errc::InvalidArgument, fmt::format("scontrol: error: Invalid {} value", word.key));
}
Failure unknown_key(const KeyWord& word) {
    return fail(
        Errc::InvalidArgument,
        fmt::format("Update of this parameter is not supported: {}\nRequest aborted", word.typed));
}

Result<std::uint32_t> number_of(const KeyWord& word) {
    const auto number = parse_uint(text_of(word));
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return bad_value(word);
    return static_cast<std::uint32_t>(*number);
}

Result<bool> flag_of(const KeyWord& word) {
    const std::string text = to_lower(text_of(word));
    if (text == "yes" || text == "1" || text == "y" || text == "true") return true;
    if (text == "no" || text == "0" || text == "n" || text == "false") return false;
    return bad_value(word);
}

Result<std::vector<std::string>> nodes_of(const KeyWord& word) {
    auto nodes = model::expand_hostlist(text_of(word));
    if (!nodes) return bad_value(word);
    return nodes;
}

Failure refused_key(const KeyWord& word) {
    struct Reason {
        std::string_view key, why;
    };
    constexpr Reason kReasons[] = {
        {"Clusters", "this cluster is in no federation"},
        {"ClusterFeatures", "this cluster is in no federation"},
        {"CertToken", "nodes are known by the cluster key, not by certificates"},
        {"CpuBind", "tasks are bound as their step asks; nodes have no mode of their own"},
        {"Exclusive", "there is no topology of nodes"},
        {"Gres", "what a node has is said by slurm.conf and gres.conf; see scontrol reconfigure"},
        {"JobDefaults", "there are no defaults of jobs by the card"},
        {"MaxCPUsPerSocket", "there is no limit of CPUs by the socket; see MaxCPUsPerNode"},
        {"PowerDownOnIdle", "nodes are not switched on and off here: there is no power saving"},
        {"TRESBillingWeights", "nothing is billed"},
        {"DelayBoot", "nodes are not rebooted for the features of a job"},
        {"Reboot", "nodes are not rebooted for a job; see scontrol reboot"},
        {"ResetAccrueTime", "priority does not grow with time"},
        {"SiteFactor", "there is no site factor in priorities"},
        {"Switches", "there is no topology of switches"},
        {"wait-for-switch", "there is no topology of switches"},
        {"ThreadSpec", "whole cores are set aside; use CoreSpec"},
        {"Topology", "there is no topology of nodes"},
    };
    std::string_view why = "not supported";
    for (const Reason& each : kReasons) {
        if (each.key == word.key) why = each.why;
    }
    return fail(Errc::InvalidArgument, fmt::format("{}: {}\nRequest aborted", word.typed, why));
}

KeyWord split_key_word(std::string_view word) {
    KeyWord split;
    split.typed = word;
    const std::size_t equals = word.find('=');
    split.key = word.substr(0, equals);
    if (equals == std::string_view::npos) return split;
    split.value = std::string(word.substr(equals + 1));
    if (split.key.ends_with('+') || split.key.ends_with('-')) {
        split.sign = split.key.back();
        split.key.pop_back();
    }
    return split;
}

}  // namespace switchyard::cli
