#include "controller/programs/mailer.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/visible.hpp"
#include "model/mail.hpp"

namespace switchyard::controller {
namespace {

constexpr std::string_view kPath =
    "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

}  // namespace

Mailer::Mailer(io::Loop& loop, os::Log& log)
    : log_(log), programs_(loop, [this](const ProgramOrder& order, const Status& status) {
          on_end(order, status);
      }) {}

void Mailer::send(const std::string& program, const std::string& domain, const ToMail& letter) {
    const core::effect::Mail& mail = letter.mail;
    std::string to = mail.to;
    // Also in records that were made when it was not yet refused at submission.
    if (!model::is_mail_address(to)) {
        log_.error("job {}: no mail is sent to '{}', which is not an address", mail.job.value,
                   to.substr(0, limits::kMailAddressBytesMax));
        return;
    }
    if (!domain.empty() && to.find('@') == std::string::npos) to += "@" + domain;
    ProgramOrder order{.what = fmt::format("mail of job {}", mail.job.value),
                       .uid = uid_to_run_as(letter.uid),
                       .gid = letter.gid,
                       .argv = {program, "-s", without_control_characters(mail.subject), to},
                       .environment = {std::string(kPath)}};
    for (const auto& [name, value] : mail.environment)
        order.environment.push_back(name + "=" + without_control_characters(value));
    if (const Status taken = programs_.run(std::move(order)); !taken)
        log_.error("mail of job {} to {} is dropped: {}", mail.job.value, to,
                   taken.error().message);
}

void Mailer::on_end(const ProgramOrder& order, const Status& status) {
    if (status) return;
    const std::string& program = order.argv.front();
    if (status.error().code != Errc::NotFound) {
        log_.error("MailProg returned error: {}: {}", order.what, status.error().message);
    } else if (std::exchange(missing_, program) != program) {
        log_.error("Configured MailProg is invalid: {}", status.error().message);
    }
}

}  // namespace switchyard::controller
