#include "agent/options.hpp"

#include <fmt/format.h>
#include <getopt.h>

namespace switchyard::agent {

Result<Options> parse_options(int argc, char** argv) {
    Options options;
    optind = 0;
    opterr = 0;
    static constexpr option kLongOptions[] = {{"help", no_argument, nullptr, 'h'},
                                              {"version", no_argument, nullptr, 'V'},
                                              {nullptr, 0, nullptr, 0}};
    for (int letter = 0;
         (letter = ::getopt_long(argc, argv, ":bCDf:GhL:N:vV", kLongOptions, nullptr)) != -1;) {
        switch (letter) {
            case 'b':
                options.count_as_boot = true;
                break;
            case 'C':
                options.print_hardware = true;
                break;
            case 'D':
                options.foreground = true;
                break;
            case 'f':
                options.config = optarg;
                break;
            case 'G':
                options.print_gres = true;
                break;
            case 'h':
                options.help = true;
                break;
            case 'L':
                options.log = optarg;
                break;
            case 'N':
                options.node = optarg;
                break;
            case 'v':
                ++options.verbose;
                break;
            case 'V':
                options.version = true;
                break;
            case ':':
                return fail(
                    Errc::InvalidArgument,
                    fmt::format("option requires an argument -- '{}'", static_cast<char>(optopt)));
            default:
                if (optopt == 0)
                    return fail(Errc::InvalidArgument,
                                fmt::format("unrecognized option '{}'", argv[optind - 1]));
                return fail(Errc::InvalidArgument,
                            fmt::format("invalid option -- '{}'", static_cast<char>(optopt)));
        }
    }
    if (optind < argc)
        return fail(Errc::InvalidArgument, fmt::format("unexpected argument '{}'", argv[optind]));
    return options;
}

const char* usage() {
    return "Usage: slurmd [OPTIONS]\n"
           "   -b            Say that the node was booted when this daemon was started.\n"
           "   -C            Print the hardware of this node as a line for slurm.conf and exit.\n"
           "   -D            Run in the foreground and log to standard error.\n"
           "   -f file       Use this configuration file.\n"
           "   -G            Print the generic resources of this node and exit.\n"
           "   -h, --help    Print this help message.\n"
           "   -L file       Log to this file.\n"
           "   -N node       Run as this node; several nodes may share a host.\n"
           "   -v            Log more; may be repeated.\n"
           "   -V, --version Print the version and exit.\n";
}

}  // namespace switchyard::agent
