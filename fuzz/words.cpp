// words.cpp: the small languages within options and requests: times that come again, features,
// cards bound to tasks, licenses, signals, kinds of mail, flags of reservations. The first byte
// says which.
#include "fuzz/fuzz.hpp"
#include "model/cron.hpp"
#include "model/features.hpp"
#include "model/gpu_bind.hpp"
#include "model/licenses.hpp"
#include "model/mail.hpp"
#include "model/reservation.hpp"
#include "model/signals.hpp"

namespace switchyard {
namespace {

void read_cron(std::string_view text) {
    const auto cron = model::parse_cron(text);
    if (cron) (void)model::next_after(*cron, from_unix_seconds(1'700'000'000));
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
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    kReaders[data[0] % std::size(kReaders)](fuzz::as_text(data + 1, size - 1));
    return 0;
}

}  // namespace switchyard
