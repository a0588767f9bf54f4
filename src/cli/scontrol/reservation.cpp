// reservation.cpp: create, update, delete and show reservations; show licenses.
#include <fmt/format.h>

#include <chrono>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/reservation_keys.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "view/cluster/reservation_text.hpp"

namespace switchyard::cli {
namespace {

using Action = model::ReservationUpdate::Action;

// "create reservation StartTime=..." names the kind first; "delete reservation maint" the thing
// too.
std::vector<KeyWord> key_words(const Words& words) {
    std::vector<KeyWord> keys;
    for (std::size_t i = 0; i < words.size(); ++i) {
        KeyWord word = split_key_word(words[i]);
        const bool is_kind =
            i == 0 && !word.value && starts_with_ignoring_case("reservation", word.key);
        if (is_kind && words.size() > 1 && words[1].find('=') != std::string::npos) continue;
        if (is_kind && words.size() > 1) word.value = words[++i];
        keys.push_back(std::move(word));
    }
    return keys;
}

// What scontrol knows beside the controller's answer; empty: nothing.
std::string_view hint(const model::ReservationUpdate& update, Errc code) {
    using model::ReservationFlag;
    const bool replaces = has(update.flags.set, ReservationFlag::Replace) ||
                          has(update.flags.set, ReservationFlag::ReplaceDown);
    switch (code) {
        case Errc::CoreReservationFixed:
            return "Updating core/node TRES not supported for core-based reservations";
        case Errc::InvalidCpuCount:
            if (!replaces) return {};
            return "REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation "
                   "option; do not specify CoreCnt";
        case Errc::InvalidNodeName:
            if (!replaces || !update.nodes) return {};
            return "REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation "
                   "option; do not specify Nodes";
        case Errc::InvalidPartition:
            if (update.action == Action::Create || update.partition != "") return {};
            return "Reservation partition cannot be removed";
        default:
            return {};
    }
}

// The failed call and why, as Slurm's commands have it.
void complain_of(Scontrol& control, const std::string& call, const model::ReservationUpdate& update,
                 const Error& error) {
    control.exit_code = 1;
    if (control.quiet) return;
    if (const auto known = hint(update, error.code); !known.empty())
        control.complain(fmt::format("scontrol: error: {}", known));
    control.complain(fmt::format("{}: {}", call, error.message));
    const bool unnamed = !update.nodes || update.nodes->empty();
    const bool none = error.code == Errc::NodesBusy || error.code == Errc::NodeConfigUnavailable;
    if (update.action == Action::Create && unnamed && none)
        control.complain(
            "Note, unless nodes are directly requested a reservation must exist in a single "
            "partition.\nIf no partition is requested the default partition is assumed.");
}

}  // namespace

// A job's reservation is a property of the job.
bool speaks_of_reservation(const Words& words) {
    bool found = false;
    for (const std::string& each : words) {
        const KeyWord word = split_key_word(each);
        if (starts_with_ignoring_case(word.key, "job")) return false;
        found |= word.value && word.key.size() >= 3 &&
                 starts_with_ignoring_case("reservationname", word.key);
    }
    return found || (!words.empty() && starts_with_ignoring_case("reservation", words[0]) &&
                     words[0].size() >= 3);
}

void change_reservation(Scontrol& control, const Words& words, Action action) {
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    if (action == Action::Create && words.size() > 1 && words[1].find('=') == std::string::npos)
        return control.complain(
            fmt::format("scontrol: error: Misformatted parameter '{}', most options have a "
                        "parameter after '='.  No reservation created.",
                        words[1]));
    const std::string call = action == Action::Create   ? "Error creating the reservation"
                             : action == Action::Update ? "slurm_update error"
                                                        : "delete_reservation " + words[0];
    auto update = parse_reservation_change(key_words(words), action, now);
    if (!update && update.error().code == Errc::InvalidCpuCount)
        control.complain(
            "scontrol: error: TRES=cpu=<num> and CoreCnt=<num> are mutually exclusive");
    if (!update) {
        const Errc code = update.error().code;
        const bool ours = code == Errc::InvalidArgument || code == Errc::Unsupported;
        return control.complain(
            fmt::format("{}: {}", ours ? "scontrol: error" : call, update.error().message));
    }
    Session* session = control.session(call);
    if (session == nullptr) return;
    const auto done = client::update_reservation(session->connection, *update);
    if (!done) return complain_of(control, call, *update, done.error());
    if (action == Action::Create) print(fmt::format("Reservation created: {}\n", *done));
    if (action == Action::Update) print("Reservation updated.\n");
}

void show_reservations(Scontrol& control, const std::string& name) {
    constexpr std::string_view kCall = "slurm_load_reservations error";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto answer = client::fetch_reservations(session->connection, name);
    if (!answer) return control.say_failed(kCall, answer.error());
    if (control.document.kind) {
        view::Document document = open_document(control.document);
        view::write_reservations(document, answer->reservations, answer->now);
        return close_document(document, control.document, session->config.cluster_name);
    }
    if (answer->reservations.empty()) {
        print(name.empty() ? "No reservations in the system\n"
                           : fmt::format("Reservation {} not found\n", visible(name)));
        if (!name.empty()) control.exit_code = 1;
        return;
    }
    for (const model::SizedReservation& each : answer->reservations)
        print(view::reservation_text(each, control.style(answer->now)));
}

void show_licenses(Scontrol& control, const std::string& name) {
    constexpr std::string_view kCall = "slurm_load_licenses error";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    auto answer = client::fetch_licenses(session->connection);
    if (!answer) return control.say_failed(kCall, answer.error());
    std::erase_if(answer->licenses, [&](const model::LicenseUse& license) {
        return !name.empty() && license.name != name;
    });
    if (control.document.kind) {
        view::Document document = open_document(control.document);
        view::write_licenses(document, answer->licenses, answer->now);
        return close_document(document, control.document, session->config.cluster_name);
    }
    if (answer->licenses.empty()) {
        print(name.empty() ? "No licenses configured in Slurm.\n"
                           : fmt::format("License name {} not found\n", visible(name)));
        if (!name.empty()) control.exit_code = 1;
        return;
    }
    for (const model::LicenseUse& license : answer->licenses)
        print(view::license_text(license, control.style(answer->now)));
}

}  // namespace switchyard::cli
