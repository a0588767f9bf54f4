// words.cpp: the small languages within options and requests: recurring times, features, cards
// bound to tasks, licenses, signals, mail, flags of reservations, distributions, states, levels of
// logs, exports. The first byte says which.
#include "base/log_level.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "model/cron.hpp"
#include "model/features.hpp"
#include "model/gpu_bind.hpp"
#include "model/job_spec.hpp"
#include "model/job_state.hpp"
#include "model/licenses.hpp"
#include "model/mail.hpp"
#include "model/partition.hpp"
#include "model/reservation.hpp"
#include "model/signals.hpp"
#include "options/export.hpp"
#include "options/het.hpp"

namespace switchyard {
namespace {

void read_cron(std::string_view text) {
    const auto cron = model::parse_cron(text);
    if (cron) (void)model::next_after(*cron, from_unix_seconds(1'700'000'000));
}

void read_mail_address(std::string_view text) {
    if (!model::is_mail_address(text)) return;
    fuzz::must(!text.starts_with('-'), "an address is no option", text);
    for (const char c : text) fuzz::must(c != '\n' && c != ' ', "an address is one word", text);
}

void read_export(std::string_view text) {
    options::Environment caller{"A=1", "SLURM_CONF=/c", "PATH=/bin"};
    (void)options::export_mode(text);
    for (const std::string& variable : options::exported(std::move(caller), text))
        fuzz::must(variable.contains('='), "a variable has a value", variable);
}

using Reader = void (*)(std::string_view);
constexpr Reader kReaders[] = {
    read_cron,
    [](std::string_view text) { (void)model::Constraint::parse(text); },
    [](std::string_view text) { (void)model::parse_gpu_bind(text); },
    [](std::string_view text) { (void)model::parse_licenses(text); },
    [](std::string_view text) { (void)model::parse_license_request(text); },
    [](std::string_view text) { (void)model::parse_signal(text); },
    [](std::string_view text) { (void)model::parse_warn_signal(text); },
    [](std::string_view text) { (void)model::parse_mail_types(text); },
    [](std::string_view text) { (void)model::parse_reservation_flags(text, false); },
    read_mail_address,
    [](std::string_view text) { (void)model::parse_distribution(text); },
    [](std::string_view text) { (void)model::parse_state_filter(text); },
    [](std::string_view text) { (void)model::parse_partition_state(text); },
    [](std::string_view text) { (void)model::parse_preempt_mode(text); },
    [](std::string_view text) { (void)parse_log_level(text); },
    [](std::string_view text) { (void)options::parse_het_groups(text); },
    read_export,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    kReaders[data[0] % std::size(kReaders)](fuzz::as_text(data + 1, size - 1));
    return 0;
}

}  // namespace switchyard
