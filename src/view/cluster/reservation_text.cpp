#include "view/cluster/reservation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/time_format.hpp"
#include "view/job/job_document.hpp"

namespace switchyard::view {
namespace {

using model::Reservation;

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }

// "a,b"; those who are kept out "-a,-b".
std::string names(const std::vector<std::string>& list, bool denied) {
    std::vector<std::string> shown;
    for (const std::string& name : list) shown.push_back(denied ? "-" + name : name);
    return join(shown, ",");
}

std::string names(const std::vector<model::NamedUsers>& list, bool denied) {
    std::vector<std::string> plain;
    for (const model::NamedUsers& each : list) plain.push_back(each.name);
    return names(plain, denied);
}

std::string tres(const model::SizedReservation& sized) {
    return sized.cpus > 0 ? fmt::format("cpu={}", sized.cpus) : std::string();
}

// The numbers on each node, in the order of the nodes; empty: it has whole nodes.
std::vector<std::pair<std::string, std::string>> reserved_cores(const Reservation& reservation) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const std::string& node : reservation.nodes) {
        const auto found = reservation.cores.find(node);
        if (found != reservation.cores.end()) list.emplace_back(node, to_string(found->second));
    }
    return list;
}

// Times as they are now: one that floats begins as far ahead as ever.
struct Times {
    Instant start, end;
    Seconds length;
};
Times times_of(const Reservation& reservation, Instant now) {
    const Instant start = reservation.shown_start(now);
    return {start, reservation.end, std::chrono::floor<Seconds>(reservation.end - start)};
}

std::string end_text(Instant end, const std::string& time_format, Instant now) {
    if (end == model::kEndlessReservation) return "Unknown";
    return model::format_instant(end, time_format, now);
}

std::string state(const Reservation& reservation, Instant now) {
    return reservation.is_active(now) ? "ACTIVE" : "INACTIVE";
}

}  // namespace

std::string reservation_text(const model::SizedReservation& sized, const RecordStyle& style) {
    const Reservation& r = sized.reservation;
    const Times times = times_of(r, style.now);
    Record record(style);
    record.line(fmt::format("ReservationName={} StartTime={} EndTime={} Duration={}", r.name,
                            model::format_instant(times.start, style.time_format, style.now),
                            end_text(times.end, style.time_format, style.now),
                            model::format_duration(times.length)));
    record.line(fmt::format("Nodes={} NodeCnt={} CoreCnt={} Features={} PartitionName={} Flags={}",
                            or_null(model::compress_hostlist(r.nodes)), r.nodes.size(), sized.cores,
                            or_null(r.features), or_null(r.partition), model::format_flags(r)));
    for (const auto& [node, cores] : reserved_cores(r))
        record.line(fmt::format("  NodeName={} CoreIDs={}", node, cores));
    record.line("TRES=" + or_null(tres(sized)));
    record.line(fmt::format("AllowedPartitions={} QOS={}",
                            or_null(names(r.allowed_partitions, r.partitions_denied)),
                            or_null(names(r.qos, r.qos_denied))));
    record.line(fmt::format(
        "Users={} Groups={} Accounts={} Licenses={} State={} BurstBuffer=(null)",
        or_null(names(r.users, r.users_denied)), or_null(names(r.groups, false)),
        or_null(names(r.accounts, r.accounts_denied)), or_null(r.licenses), state(r, style.now)));
    record.line("MaxStartDelay=" +
                (r.max_start_delay ? model::format_duration(*r.max_start_delay) : "(null)"));
    if (!r.comment.empty()) record.line("Comment=" + r.comment);
    return record.take();
}

std::string license_text(const model::LicenseUse& license, const RecordStyle& style) {
    return fmt::format("LicenseName={}{}Total={} Used={} Free={} Reserved={} Remote=no\n",
                       license.name, style.one_line ? " " : "\n    ", license.total, license.used,
                       license.free(), license.reserved);
}

void write_reservations(Document& document,
                        const std::vector<model::SizedReservation>& reservations, Instant now) {
    document.begin_list("reservations");
    for (const model::SizedReservation& sized : reservations) {
        const Reservation& r = sized.reservation;
        const Times times = times_of(r, now);
        document.begin_map();
        document.text("accounts", names(r.accounts, r.accounts_denied));
        document.text("burst_buffer", "");
        document.integer("core_count", sized.cores);
        document.begin_list("core_specializations");
        for (const auto& [node, cores] : reserved_cores(r)) {
            document.begin_map();
            document.text("node", node);
            document.text("core", cores);
            document.end();
        }
        document.end();
        document.number("end_time", moment_number(times.end));
        document.text("features", r.features);
        std::vector<std::string> flags;
        for (const std::string_view flag : split(model::format_flags(r), ',')) {
            if (!flag.empty()) flags.emplace_back(flag.substr(0, flag.find('=')));
        }
        document.texts("flags", flags);
        document.text("groups", names(r.groups, false));
        document.text("licenses", r.licenses);
        document.integer("max_start_delay", r.max_start_delay ? r.max_start_delay->count() : 0);
        document.text("name", r.name);
        document.integer("node_count", static_cast<std::int64_t>(r.nodes.size()));
        document.text("node_list", model::compress_hostlist(r.nodes));
        document.text("partition", r.partition);
        document.begin_map("purge_completed");
        document.number("time", Number::of(static_cast<std::uint64_t>(r.purge_after.count())));
        document.end();
        document.number("start_time", moment_number(times.start));
        document.number("watts", Number{});
        document.text("tres", tres(sized));
        document.text("users", names(r.users, r.users_denied));
        document.end();
    }
    document.end();
    document.number("last_update", moment_number(now));
}

void write_licenses(Document& document, const std::vector<model::LicenseUse>& licenses,
                    Instant now) {
    document.begin_list("licenses");
    for (const model::LicenseUse& license : licenses) {
        document.begin_map();
        document.text("LicenseName", license.name);
        document.integer("Total", license.total);
        document.integer("Used", license.used);
        document.integer("Free", license.free());
        document.boolean("Remote", false);
        document.integer("Reserved", license.reserved);
        document.integer("LastConsumed", 0);
        document.integer("LastDeficit", 0);
        document.integer("LastUpdate", 0);
        document.end();
    }
    document.end();
    document.number("last_update", moment_number(now));
}

std::string reservation_table(const std::vector<model::SizedReservation>& reservations, Instant now,
                              bool header, const std::string& time_format) {
    constexpr std::size_t kNameWidth = 9;
    std::size_t width = kNameWidth;
    for (const model::SizedReservation& sized : reservations)
        width = std::max(width, sized.reservation.name.size());
    const auto line = [&](std::string_view name, std::string_view state, std::string_view start,
                          std::string_view end, std::string_view length, std::string_view nodes) {
        return fmt::format("{:<{}}  {:>8}  {:>19}  {:>19}  {:>11}  {}\n", name, width, state, start,
                           end, length, nodes);
    };
    std::string text;
    if (header) text = line("RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST");
    for (const model::SizedReservation& sized : reservations) {
        const Reservation& r = sized.reservation;
        const Times times = times_of(r, now);
        text += line(r.name, state(r, now), model::format_instant(times.start, time_format, now),
                     end_text(times.end, time_format, now), model::format_duration(times.length),
                     model::compress_hostlist(r.nodes));
    }
    return text;
}

}  // namespace switchyard::view
