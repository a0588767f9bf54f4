// sinfo_options.hpp: what sinfo was asked for, from its command line and the SINFO_* environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/document_option.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::cli {

struct SinfoOptions {
    bool all_partitions = false, dead = false, responding = false, exact = false, header = true;
    bool long_list = false, each_node = false, summarize = false, reasons = false;
    bool reservations = false, future = false;
    int iterate_seconds = 0;
    int verbose = 0;
    DocumentWish document;
    std::optional<std::string> format, long_format, sort;
    std::vector<std::string> partitions, nodes;
    std::vector<std::vector<std::string>> states;  // Any of these, each all of its words.
    std::string clusters;
    std::string time_format;  // SLURM_TIME_FORMAT
};

struct SinfoParsed {
    SinfoOptions options;
    std::optional<int> exit_code;
};
SinfoParsed parse_sinfo(int argc, char** argv);

// Whether the word names a state of a node that --states understands.
bool is_node_state(std::string_view word);
bool has_state(const model::Node& node, std::string_view word);
// Whether a node passes --nodes, --states, --dead, --responding and --list-reasons.
bool is_wanted(const model::Node& node, const SinfoOptions& options);
bool is_wanted(const model::Partition& partition, const SinfoOptions& options);

// The columns unless told otherwise; names are given the room they need.
std::string default_format(const SinfoOptions& options,
                           const std::vector<model::Partition>& partitions,
                           const std::vector<model::Node>& nodes);

}  // namespace switchyard::cli
