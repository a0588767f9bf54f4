// job_ids.hpp: jobs and users as people type them on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/job_array.hpp"

namespace switchyard::cli {

// Splits at commas that stand outside brackets: "12_[1,3],14" has two parts.
std::vector<std::string> split_list(std::string_view text);

// "12,13_4,14_[1-3]"; the error's message is the part that is no job id.
Result<std::vector<model::JobSelector>> parse_job_list(std::string_view text);

// A user name or a number.
std::optional<std::uint32_t> find_uid(const std::string& user);
std::optional<std::string> find_user_name(std::uint32_t uid);

// "n[1-3],localhost", with this host's own name for "localhost".
Result<std::vector<std::string>> parse_node_list(std::string_view text);

// The words of a file, separated by blanks, line ends or commas; "-" is standard input.
Result<std::vector<std::string>> read_words(const std::string& path);

}  // namespace switchyard::cli
