#include "cli/help_sinfo.hpp"

namespace switchyard::cli {

std::string sinfo_usage() {
    return "Usage: sinfo [-abdelNRrsTv] [-i seconds] [-t states] [-p partitions] [-n nodes]\n"
           "             [-S fields] [-o format] [-O fields] [--usage]\n";
}

std::string sinfo_help() {
    return "Usage: sinfo [OPTIONS]\n"
           "Shows partitions and nodes.\n"
           "  -a, --all               hidden partitions too\n"
           "  -d, --dead              only nodes that do not respond\n"
           "  -e, --exact             nodes of different size on lines of their own\n"
           "  -F, --future            nodes that are only planned, too\n"
           "  -h, --noheader          no headings\n"
           "      --hide              leave out hidden partitions (the default)\n"
           "  -i, --iterate=SECONDS   print again and again\n"
           "  -l, --long              more columns\n"
           "  -M, --clusters=NAME     the cluster to ask\n"
           "  -n, --nodes=NODES       only these nodes\n"
           "  -N, --Node              a line for each node and partition\n"
           "      --noconvert         numbers as they are\n"
           "  -o, --format=FORMAT     columns by letter: %[[.]width]letter[text]\n"
           "  -O, --Format=FIELDS     columns by name: name[:[.][width][text]],...\n"
           "  -p, --partition=NAMES   only these partitions\n"
           "  -r, --responding        only nodes that respond\n"
           "  -R, --list-reasons      why nodes are down or drained\n"
           "  -s, --summarize         one line for each partition\n"
           "  -S, --sort=LETTERS      order, such as #P,-t (- for descending, #P as configured)\n"
           "  -t, --states=STATES     only nodes in these states; & between them: in all\n"
           "  -T, --reservation       reservations\n"
           "  -v, --verbose           say how many nodes and partitions there were\n"
           "\n"
           "Help options:\n"
           "      --help              this text\n"
           "      --helpFormat        the names -O knows\n"
           "      --helpstate         the states -t knows\n"
           "      --usage             the options in brief\n"
           "  -V, --version           the version\n";
}

}  // namespace switchyard::cli
