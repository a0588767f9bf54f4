#include "cli/scontrol/reservation_keys.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "model/hostlist.hpp"
#include "model/licenses.hpp"
#include "model/time_format.hpp"

namespace switchyard::cli {
namespace {

using model::NameListChange;
using model::ReservationFlag;
using model::ReservationUpdate;
using Action = ReservationUpdate::Action;

constexpr std::uint64_t kKilo = 1024;

// One creation or update as it is being read.
struct Reading {
    ReservationUpdate update;
    Instant now{};
    std::optional<std::uint32_t> core_count;  // By CoreCnt,
    std::optional<std::uint32_t> tres_cores;  // and by TRES.
    bool has_tres = false;
};

struct Key {
    std::string_view name;
    std::size_t shortest;  // How much of it must be typed.
    Status (*apply)(Reading& reading, const KeyWord& word);
};

Failure problem(std::string text) { return fail(Errc::InvalidArgument, std::move(text)); }
Failure bad_value(const KeyWord& word) {
    return problem(fmt::format("Invalid {} value: {}.", word.key, text_of(word)));
}

template <auto Member>
Status set_text(Reading& reading, const KeyWord& word) {
    reading.update.*Member = text_of(word);
    return {};
}

template <auto Member>
Status set_moment(Reading& reading, const KeyWord& word, std::string_view what) {
    const auto moment = model::parse_instant(text_of(word), reading.now);
    if (!moment) return problem(fmt::format("Invalid {} time {}.", what, word.typed));
    reading.update.*Member = *moment;
    return {};
}
Status set_start(Reading& reading, const KeyWord& word) {
    return set_moment<&ReservationUpdate::start>(reading, word, "start");
}
Status set_end(Reading& reading, const KeyWord& word) {
    return set_moment<&ReservationUpdate::end>(reading, word, "end");
}

Result<Seconds> length_of(const KeyWord& word) {
    const auto limit = model::parse_time_limit(text_of(word));
    if (!limit) return problem(fmt::format("Invalid duration {}.", word.typed));
    if (limit->unlimited) return model::kUnlimitedReservation;
    return Seconds{std::chrono::ceil<Minutes>(limit->seconds)};
}
Status set_duration(Reading& reading, const KeyWord& word) {
    SY_TRY(reading.update.duration, length_of(word));
    return {};
}
Status set_start_delay(Reading& reading, const KeyWord& word) {
    if (text_of(word).empty()) {
        reading.update.max_start_delay = Seconds{0};
        return {};
    }
    SY_TRY(reading.update.max_start_delay, length_of(word));
    return {};
}

// Where a list of names divides: "n[1,3],n5" at its last comma.
std::vector<std::string> split_outside_brackets(std::string_view text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

// What is no list of names is no node's name either; the controller says so.
std::vector<std::string> names_of(const std::string& text) {
    auto names = model::expand_hostlist(text);
    return names ? *std::move(names) : std::vector<std::string>{text};
}

// "n1,n2", "ALL"; "+n1,-n2" and the signs of the key change what is there.
Status set_nodes(Reading& reading, const KeyWord& word) {
    const std::string text = text_of(word);
    ReservationUpdate& update = reading.update;
    const bool changes = word.sign != 0 || text.starts_with('+') || text.starts_with('-');
    if (!changes) {
        update.nodes.emplace();
        if (equals_ignoring_case(text, "all")) {
            update.nodes = {"ALL"};
        } else if (!text.empty()) {
            update.nodes = names_of(text);
        }
        return {};
    }
    for (std::string part : split_outside_brackets(text)) {
        bool removes = word.sign == '-';
        if (part.starts_with('+') || part.starts_with('-')) {
            removes = part.front() == '-';
            part.erase(0, 1);
        }
        auto& list = removes ? update.nodes_removed : update.nodes_added;
        for (std::string& name : names_of(part)) list.push_back(std::move(name));
    }
    return {};
}

// "10", "2k"
std::optional<std::uint32_t> count_of(std::string_view text) {
    const bool kilo = text.ends_with('k') || text.ends_with('K');
    if (kilo) text.remove_suffix(1);
    const auto number = parse_uint(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max() / kKilo) return std::nullopt;
    return static_cast<std::uint32_t>(*number * (kilo ? kKilo : 1));
}

// Sentences of their own, without the usual end.
Failure plain_problem(std::string text) { return fail(Errc::Unsupported, std::move(text)); }

Status set_node_count(Reading& reading, const KeyWord& word) {
    const std::string text = text_of(word);
    if (text.find(',') != std::string::npos)
        return plain_problem("Using a comma separated array for NodeCnt is no longer valid.");
    reading.update.node_count = count_of(text);
    if (!reading.update.node_count)
        return plain_problem(fmt::format("\"{}\" is not a valid node count", text));
    return {};
}

// None, or no value: whole nodes.
Status set_core_count(Reading& reading, const KeyWord& word) {
    const std::string text = text_of(word);
    if (text.find(',') != std::string::npos)
        return plain_problem("Using a comma separated array for CoreCnt is no longer valid.");
    if (text.empty()) return {};
    const auto count = count_of(text);
    // What is no number is as if it were not given.
    if (count && *count > 0) reading.core_count = count;
    return {};
}

Status refuse_buffers(Reading&, const KeyWord&) {
    return problem("No burst buffers are configured.");
}

// One "type=count" of a list.
Status set_tres_entry(Reading& reading, std::string_view entry,
                      std::vector<model::License>& licenses) {
    const std::size_t equals = entry.find('=');
    const std::string_view type = entry.substr(0, equals);
    const auto count =
        equals == std::string_view::npos ? std::nullopt : count_of(entry.substr(equals + 1));
    const auto is = [&](std::string_view name) { return equals_ignoring_case(type, name); };
    const auto begins = [&](std::string_view name) {
        return starts_with_ignoring_case(type, name);
    };
    if (is("mem") || begins("gres/") || begins("bb/"))
        return problem(fmt::format("TRES type '{}' not supported with reservations.", type));
    const bool known = is("node") || is("cpu") || begins("license/");
    if (!known || !count || *count == 0) return fail(Errc::InvalidTres);
    if (begins("license/")) {
        licenses.push_back({std::string(type.substr(8)), *count});
    } else if (is("node")) {
        reading.update.node_count = *count;
    } else if (!reading.tres_cores) {
        reading.tres_cores = *count;
    }
    return {};
}

// "node=2,cpu=8,license/fluent=2": cpu counts cores.
Status set_tres(Reading& reading, const KeyWord& word) {
    if (std::exchange(reading.has_tres, true))
        return plain_problem(fmt::format("Parameter {} specified more than once", word.typed));
    std::vector<model::License> licenses;
    for (const std::string_view entry : split(text_of(word), ',')) {
        if (entry.empty()) continue;
        SY_CHECK(set_tres_entry(reading, entry, licenses));
    }
    if (!licenses.empty()) reading.update.licenses = model::format_licenses(licenses);
    return {};
}
Status set_tres_per_node(Reading& reading, const KeyWord& word) {
    SY_CHECK(set_tres(reading, word));
    reading.update.cores_per_node = reading.tres_cores.has_value();
    return {};
}

// "a,b", "-a,-b"; "+=" and "-=" change what is there.
template <NameListChange ReservationUpdate::* Member>
Status set_names(Reading& reading, const KeyWord& word) {
    using Mode = NameListChange::Mode;
    NameListChange change;
    std::size_t denied = 0;
    for (std::string name : split_list(text_of(word))) {
        if (name.starts_with('-')) {
            ++denied;
            name.erase(0, 1);
        }
        change.names.push_back({std::move(name), {}});
    }
    if (denied != 0 && denied != change.names.size()) return bad_value(word);
    change.mode = denied > 0 ? Mode::Deny : Mode::Set;
    if (word.sign == '+') change.mode = Mode::Add;
    if (word.sign == '-' || (word.sign == '+' && denied > 0)) change.mode = Mode::Remove;
    reading.update.*Member = std::move(change);
    return {};
}

Status set_flags(Reading& reading, const KeyWord& word) {
    SY_TRY(reading.update.flags, model::parse_reservation_flags(text_of(word), word.sign == '-'));
    return {};
}

Status set_skip(Reading& reading, const KeyWord&) {
    reading.update.skip = true;
    return {};
}

constexpr Key kKeys[] = {
    {"ReservationName", 3, set_text<&ReservationUpdate::name>},
    {"Name", 4, set_text<&ReservationUpdate::name>},
    {"StartTime", 1, set_start},
    {"EndTime", 1, set_end},
    {"Duration", 1, set_duration},
    {"NodeCnt", 5, set_node_count},
    {"NodeCount", 6, set_node_count},
    {"Nodes", 4, set_nodes},
    {"CoreCnt", 5, set_core_count},
    {"CoreCount", 6, set_core_count},
    {"TRES", 2, set_tres},
    {"TRESPerNode", 5, set_tres_per_node},
    {"Features", 2, set_text<&ReservationUpdate::features>},
    {"PartitionName", 1, set_text<&ReservationUpdate::partition>},
    {"Licenses", 1, set_text<&ReservationUpdate::licenses>},
    {"Flags", 2, set_flags},
    {"MaxStartDelay", 2, set_start_delay},
    {"Comment", 3, set_text<&ReservationUpdate::comment>},
    {"Users", 1, set_names<&ReservationUpdate::users>},
    {"Groups", 1, set_names<&ReservationUpdate::groups>},
    {"AllowedPartitions", 2, set_names<&ReservationUpdate::allowed_partitions>},
    {"Accounts", 1, set_names<&ReservationUpdate::accounts>},
    {"QOS", 1, set_names<&ReservationUpdate::qos>},
    {"BurstBuffer", 1, refuse_buffers},
    {"Skip", 2, set_skip},
};

const Key* find_key(std::string_view name) {
    for (const Key& key : kKeys) {
        if (name.size() >= key.shortest && starts_with_ignoring_case(key.name, name)) return &key;
    }
    return nullptr;
}

// Of which "+=" and "-=" change a part.
bool is_list(const Key& key) {
    return key.name == "Users" || key.name == "Groups" || key.name == "Accounts" ||
           key.name == "Flags" || key.name == "Nodes" || key.name == "AllowedPartitions" ||
           key.name == "QOS";
}

// What can be seen to be wrong before anybody is asked.
Status check_creation(const ReservationUpdate& update) {
    using Mode = NameListChange::Mode;
    if (!update.start) return problem("A start time must be given.");
    const bool repeats = (update.flags.set & model::kRecurring) != 0;
    if (has(update.flags.set, ReservationFlag::ForceStart) && !repeats)
        return plain_problem(
            "FORCE_START flag requires a reoccuring reservation. No reservation created.");
    if (!update.end && !update.duration) return problem("An end time or duration must be given.");
    if (update.end && update.duration && *update.duration != Seconds{0} &&
        *update.start + *update.duration != *update.end)
        return problem("StartTime + Duration does not equal EndTime.");
    if (update.end && *update.start > *update.end)
        return problem("Start time cannot be after end time.");
    const bool all = update.nodes && update.nodes->size() == 1 && update.nodes->front() == "ALL";
    if (has(update.flags.set, ReservationFlag::PartNodes) && (!update.partition || !all))
        return problem("PART_NODES flag requires specifying a Partition and ALL nodes.");
    const bool nodes = update.nodes && !update.nodes->empty();
    const bool counts = update.node_count.value_or(0) > 0 || update.core_count;
    if (!nodes && !counts && !update.licenses && !update.partition)
        return problem("CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.");
    const bool users = update.users.mode != Mode::None, groups = update.groups.mode != Mode::None;
    const bool others = update.accounts.mode != Mode::None || update.qos.mode != Mode::None ||
                        update.allowed_partitions.mode != Mode::None;
    if (!users && !groups && !others)
        return problem(
            "Either Users/Groups, AllowedPartitions, QOS and/or Accounts must be specified.");
    if (users && groups)
        return problem(
            "Users and Groups are mutually exclusive.  You can have one or the other, but not "
            "both.");
    return {};
}

}  // namespace

Result<model::ReservationUpdate> parse_reservation_change(const std::vector<KeyWord>& words,
                                                          Action action, Instant now) {
    const auto ended = [&](const Error& error) {
        if (error.code != Errc::InvalidArgument) return Failure{error};
        return problem(fmt::format("{}  No reservation {}.", error.message,
                                   action == Action::Update ? "update" : "created"));
    };
    Reading reading{.update = {}, .now = now, .core_count = {}, .tres_cores = {}};
    reading.update.action = action;
    for (const KeyWord& word : words) {
        const Key* key = find_key(word.key);
        if (key == nullptr || (word.sign != 0 && !is_list(*key)))
            return ended(problem(fmt::format("Unknown parameter {}.", word.typed)).error);
        if (const Status done = key->apply(reading, word); !done) return ended(done.error());
    }
    if (reading.core_count && reading.tres_cores) return fail(Errc::InvalidCpuCount);
    reading.update.core_count = reading.core_count ? reading.core_count : reading.tres_cores;
    if (action == Action::Create) {
        if (const Status fine = check_creation(reading.update); !fine) return ended(fine.error());
    } else if (action == Action::Delete && reading.update.name.empty()) {
        return fail(Errc::InvalidReservation);
    } else if (reading.update.name.empty()) {
        return ended(problem("Reservation must be given.").error);
    }
    return reading.update;
}

}  // namespace switchyard::cli
