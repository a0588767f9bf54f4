#include "cli/reservation_keys.hpp"

#include <fmt/format.h>

#include <limits>

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
};

struct Key {
    std::string_view name;
    std::size_t shortest;  // How much of it must be typed.
    Status (*apply)(Reading& reading, const KeyWord& word);
};

std::string text_of(const KeyWord& word) { return word.value.value_or(""); }
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
    if (!moment) return problem(fmt::format("Invalid {} time {}.", what, text_of(word)));
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
    if (!limit) return problem(fmt::format("Invalid duration {}.", text_of(word)));
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

Status set_nodes(Reading& reading, const KeyWord& word) {
    const std::string text = text_of(word);
    if (equals_ignoring_case(text, "all")) {
        reading.update.nodes = {"ALL"};
        return {};
    }
    auto nodes = text.empty() ? std::vector<std::string>() : model::expand_hostlist(text);
    if (!nodes) return bad_value(word);
    reading.update.nodes = *std::move(nodes);
    return {};
}

// "10", "2k", and lists of them, of which the sum counts.
Result<std::uint32_t> count_of(std::string_view text, const KeyWord& word) {
    std::uint64_t sum = 0;
    for (std::string_view each : split(text, ',')) {
        const bool kilo = each.ends_with('k') || each.ends_with('K');
        if (kilo) each.remove_suffix(1);
        const auto number = parse_uint(each);
        if (!number || *number > std::numeric_limits<std::uint32_t>::max() / kKilo)
            return bad_value(word);
        sum += *number * (kilo ? kKilo : 1);
    }
    if (sum > std::numeric_limits<std::uint32_t>::max()) return bad_value(word);
    return static_cast<std::uint32_t>(sum);
}
Status set_node_count(Reading& reading, const KeyWord& word) {
    SY_TRY(reading.update.node_count, count_of(text_of(word), word));
    return {};
}

Status refuse_cores(Reading&, const KeyWord& word) {
    return problem(fmt::format("{} is not supported: reservations are of whole nodes.", word.key));
}
Status refuse_buffers(Reading&, const KeyWord&) {
    return problem("No burst buffers are configured.");
}

// "node=4,license/fluent=2"
Status set_tres(Reading& reading, const KeyWord& word) {
    std::vector<model::License> licenses;
    for (const std::string_view entry : split(text_of(word), ',')) {
        const std::size_t equals = entry.find('=');
        const std::string_view type = entry.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
        if (equals_ignoring_case(type, "node")) {
            SY_TRY(reading.update.node_count, count_of(value, word));
        } else if (starts_with_ignoring_case(type, "license/")) {
            const auto count = parse_uint(value);
            if (!count || *count == 0 || *count > std::numeric_limits<std::uint32_t>::max())
                return bad_value(word);
            licenses.push_back({std::string(type.substr(8)), static_cast<std::uint32_t>(*count)});
        } else if (equals_ignoring_case(type, "cpu")) {
            return refuse_cores(reading, {.key = "TRES=cpu", .value = {}, .typed = {}});
        } else {
            return problem(fmt::format("TRES type '{}' not supported with reservations.", type));
        }
    }
    if (!licenses.empty()) reading.update.licenses = model::format_licenses(licenses);
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
    {"CoreCnt", 5, refuse_cores},
    {"TRES", 2, set_tres},
    {"Features", 2, set_text<&ReservationUpdate::features>},
    {"PartitionName", 1, set_text<&ReservationUpdate::partition>},
    {"Licenses", 1, set_text<&ReservationUpdate::licenses>},
    {"Flags", 2, set_flags},
    {"MaxStartDelay", 2, set_start_delay},
    {"Comment", 3, set_text<&ReservationUpdate::comment>},
    {"Users", 1, set_names<&ReservationUpdate::users>},
    {"Groups", 1, set_names<&ReservationUpdate::groups>},
    {"Accounts", 1, set_names<&ReservationUpdate::accounts>},
    {"BurstBuffer", 1, refuse_buffers},
    {"Skip", 2, set_skip},
};

const Key* find_key(std::string_view name) {
    for (const Key& key : kKeys) {
        if (name.size() >= key.shortest && starts_with_ignoring_case(key.name, name)) return &key;
    }
    return nullptr;
}

// What can be seen to be wrong before anybody is asked.
Status check_creation(const ReservationUpdate& update) {
    using Mode = NameListChange::Mode;
    if (!update.start) return problem("A start time must be given.");
    if (!update.end && !update.duration) return problem("An end time or duration must be given.");
    if (update.end && update.duration && *update.start + *update.duration != *update.end)
        return problem("StartTime + Duration does not equal EndTime.");
    if (update.end && *update.start > *update.end)
        return problem("Start time cannot be after end time.");
    const bool all = update.nodes && update.nodes->size() == 1 && update.nodes->front() == "ALL";
    if (has(update.flags.set, ReservationFlag::PartNodes) && (!update.partition || !all))
        return problem("PART_NODES flag requires specifying a Partition and ALL nodes.");
    if (!update.nodes && !update.node_count && !update.licenses && !update.partition)
        return problem("Nodes, NodeCnt or Licenses must be specified.");
    const bool users = update.users.mode != Mode::None, groups = update.groups.mode != Mode::None;
    if (!users && !groups && update.accounts.mode == Mode::None)
        return problem("Either Users/Groups and/or Accounts must be specified.");
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
        return problem(fmt::format("{}  No reservation {}.", error.message,
                                   action == Action::Update ? "update" : "created"));
    };
    Reading reading{.update = {}, .now = now};
    reading.update.action = action;
    for (const KeyWord& word : words) {
        const Key* key = find_key(word.key);
        const bool listed = key != nullptr && (key->name == "Users" || key->name == "Groups" ||
                                               key->name == "Accounts" || key->name == "Flags");
        if (key == nullptr || (word.sign != 0 && !listed))
            return ended(problem(fmt::format("Unknown parameter {}.", word.typed)).error);
        if (const Status done = key->apply(reading, word); !done) return ended(done.error());
    }
    if (action == Action::Create) {
        if (const Status fine = check_creation(reading.update); !fine) return ended(fine.error());
    } else if (reading.update.name.empty()) {
        return ended(problem("Reservation must be given.").error);
    }
    return reading.update;
}

}  // namespace switchyard::cli
