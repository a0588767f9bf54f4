// crontab.cpp: what scrontab is given: times, commands and the options of #SCRON lines.
#include "cli/scrontab/crontab.hpp"

#include "fuzz/fuzz.hpp"
#include "model/cron.hpp"
#include "options/parse.hpp"

namespace switchyard {
namespace {

constexpr Instant kNow{Seconds{1'800'000'000}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    const auto entries = cli::parse_crontab(text);
    if (!entries) return 0;
    options::Surroundings around;
    around.now = kNow;
    around.work_dir = "/home/someone";
    for (const cli::CronEntry& entry : *entries) {
        const auto time = model::parse_cron(entry.time);
        fuzz::must(static_cast<bool>(time), "the time of an entry is one", entry.time);
        const auto next = model::next_after(*time, kNow);
        fuzz::must(!next || *next > kNow, "the next time is yet to come", entry.time);
        const std::string script = cli::cron_script(entry);
        fuzz::must(!options::check_script(script), "the script of an entry is one", script);
        // A comment may look like one; nobody reads it.
        fuzz::must(entry.command.starts_with('#') || options::scan_directives(script).empty(),
                   "a command is no line of options", script);
        options::JobRequest request;
        (void)options::apply_script(request, entry.options, around);
    }
    return 0;
}

}  // namespace switchyard
