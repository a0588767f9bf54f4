// config_file.hpp: what a cluster runs with, written as a slurm.conf that gives the same cluster
// again: scontrol write config. Pure: values in, text out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::cli {

// What the controller says of itself, in its order: a key as `scontrol show config` names it, and
// its value as it is shown there.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

// A key that has no value, or that means nothing here, is a comment.
std::string config_file(const ConfigValues& values, const std::vector<model::Node>& nodes,
                        const std::vector<model::Partition>& partitions, const std::string& when);

}  // namespace switchyard::cli
