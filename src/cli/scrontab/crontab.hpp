// crontab.hpp: the text of a crontab: "#SCRON" options and, behind them, a time and a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "options/script.hpp"

namespace switchyard::cli {

struct CronEntry {
    std::size_t line = 0;  // Counted from 1.
    std::string time, command;
    std::vector<options::Directive> options;  // Of the #SCRON lines before it.
};

// InvalidArgument names the line: "line 3: bad hour: \"25\"".
Result<std::vector<CronEntry>> parse_crontab(std::string_view text);

// The script that runs the command of an entry.
std::string cron_script(const CronEntry& entry);

}  // namespace switchyard::cli
