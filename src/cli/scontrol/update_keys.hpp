// update_keys.hpp: "Key=Value" words of scontrol update and create, turned into typed changes.
//
// Pure: words in, a change or the sentence to print out. Keys are matched without regard to case,
// and by any unambiguous beginning of three letters or more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/update.hpp"

namespace switchyard::cli {

struct KeyWord {
    std::string key;
    char sign = 0;  // '+' and '-' of "TimeLimit+=30".
    std::optional<std::string> value;
    std::string typed;
};
KeyWord split_key_word(std::string_view word);
inline std::string text_of(const KeyWord& word) { return word.value.value_or(""); }

struct JobChange {
    std::vector<std::string> ids;     // JobId=, each a selector as typed.
    std::optional<std::string> name;  // JobName= without a JobId: the jobs it is for.
    std::optional<std::string> user;  // UserID=
    model::JobUpdate update;
};

// A word that means nothing is InvalidArgument with Slurm's sentence.
Result<JobChange> parse_job_change(const std::vector<KeyWord>& words, Instant now);
Result<model::NodeUpdate> parse_node_change(const std::vector<KeyWord>& words);
Result<model::PartitionUpdate> parse_partition_change(const std::vector<KeyWord>& words,
                                                      model::PartitionUpdate::Action action);

}  // namespace switchyard::cli
