#include "cli/scrontab/crontab.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/cron.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kMagic = "#SCRON";
constexpr std::string_view kBlanks = " \t";

// The time at the head of a line, and what is behind it.
Result<CronEntry> parse_entry(std::string_view line) {
    std::size_t at = 0;
    for (std::size_t words = model::cron_word_count(line); words > 0; --words) {
        at = line.find_first_of(kBlanks, at);
        if (at == std::string_view::npos)
            return fail(Errc::InvalidArgument, "a time and a command are needed");
        at = std::min(line.find_first_not_of(kBlanks, at), line.size());
    }
    CronEntry entry;
    entry.time = trim(line.substr(0, at));
    entry.command = trim(line.substr(at));
    if (const auto time = model::parse_cron(entry.time); !time) return Failure{time.error()};
    if (entry.command.empty()) return fail(Errc::InvalidArgument, "there is no command");
    if (entry.command.contains('\0'))
        return fail(Errc::InvalidArgument, "there is a NUL character in the command");
    return entry;
}

}  // namespace

Result<std::vector<CronEntry>> parse_crontab(std::string_view text) {
    std::vector<CronEntry> entries;
    std::vector<options::Directive> options;
    std::size_t number = 0;
    for (const std::string_view raw : split(text, '\n')) {
        ++number;
        const std::string_view line = trim(raw);
        if (line.starts_with(kMagic)) {
            auto words = options::split_words(line.substr(kMagic.size()));
            if (!words.empty()) options.push_back({number, std::move(words)});
            continue;
        }
        if (line.empty() || line.starts_with('#')) continue;
        auto entry = parse_entry(line);
        if (!entry)
            return fail(Errc::InvalidArgument,
                        fmt::format("line {}: {}", number, entry.error().message));
        entry->line = number;
        entry->options = std::exchange(options, {});
        entries.push_back(*std::move(entry));
    }
    return entries;
}

std::string cron_script(const CronEntry& entry) {
    return fmt::format("#!/bin/sh\n# This job was submitted through scrontab.\n\n{}\n",
                       entry.command);
}

}  // namespace switchyard::cli
