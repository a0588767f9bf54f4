// verbs.hpp: what `switchyard` can do; each verb is a file.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/switchyard/place.hpp"
#include "config/config.hpp"

namespace switchyard::cli {

using Arguments = std::vector<std::string>;

int switchyard_up(const Arguments& arguments);
int switchyard_down(const Arguments& arguments);
int switchyard_status(const Arguments& arguments);
int switchyard_man(const Arguments& arguments);

// Stops the cluster; what `up --foreground` does at its end too.
int take_down(const Place& place, bool keep_jobs);

// The cluster that down and status mean: --dir or --name; else the one of SLURM_CONF, if `up` made
// it; else the default one.
Result<Place> existing_place(const Wishes& wishes);

// The reason that `down` drains nodes with, so that `up` knows which to resume.
inline constexpr const char* kDownReason = "switchyard down";

int complain(const std::string& text);       // "switchyard: error: text", and 1.
std::string usage(const std::string& verb);  // Help text of a verb, or of switchyard itself.

}  // namespace switchyard::cli
