// options.hpp: the command line of slurmd.
#pragma once

#include <string>

#include "base/result.hpp"

namespace switchyard::agent {

struct Options {
    bool foreground = false;      // -D
    bool print_hardware = false;  // -C
    bool print_gres = false;      // -G
    bool count_as_boot = false;   // -b
    bool version = false;         // -V
    bool help = false;            // -h
    int verbose = 0;              // -v
    std::string node;             // -N
    std::string config;           // -f
    std::string log;              // -L
};

// InvalidArgument with getopt's own words for an unknown option.
Result<Options> parse_options(int argc, char** argv);
const char* usage();

}  // namespace switchyard::agent
