#include "cli/help_squeue.hpp"

#include <fmt/format.h>

#include "cli/format/job_columns.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kStates[] = {
    "pending",  "running",       "suspended",    "completed",   "cancelled",
    "failed",   "timeout",       "node_fail",    "preempted",   "boot_fail",
    "deadline", "out_of_memory", "completing",   "configuring", "expediting",
    "resizing", "resv_del_hold", "requeued",     "requeue_fed", "requeue_hold",
    "revoked",  "signaling",     "special_exit", "stage_out",   "stopped",
};

}  // namespace

std::span<const std::string_view> state_names() { return kStates; }

std::string squeue_usage() {
    return "Usage: squeue [-A account] [--clusters names] [-i seconds] [--job jobid]\n"
           "              [-n name] [-o format] [-O fields] [-p partitions] [-q qos] [-R "
           "reservation]\n"
           "              [--sort fields] [--start] [--step step_id] [-t states] [-u user_name]\n"
           "              [--me] [-w nodes] [--usage] [-L licenses] [-ahlrPsv]\n";
}

std::string squeue_help() {
    return "Usage: squeue [OPTIONS]\n"
           "Lists the jobs that wait, run or are ending.\n"
           "  -A, --account=NAMES     only jobs of these accounts\n"
           "  -a, --all               jobs in hidden partitions too\n"
           "  -r, --array             one line for each element of a job array\n"
           "      --array-unique      the same for elements that wait\n"
           "  -h, --noheader          no headings\n"
           "      --hide              leave out hidden partitions (the default)\n"
           "  -i, --iterate=SECONDS   print again and again\n"
           "  -j, --jobs=IDS          only these jobs, elements (12_3) or arrays\n"
           "  -l, --long              more columns\n"
           "  -L, --licenses=NAMES    only jobs that ask for these licenses\n"
           "  -M, --clusters=NAME     the cluster to ask\n"
           "      --me                only your own jobs\n"
           "  -n, --name=NAMES        only jobs with these names\n"
           "      --noconvert         memory in the unit it was given in\n"
           "  -o, --format=FORMAT     columns by letter: %[[.]width]letter[text]\n"
           "  -O, --Format=FIELDS     columns by name: name[:[.][width][text]],...\n"
           "      --only-job-state    enough for a program that only wants the state\n"
           "  -p, --partition=NAMES   only jobs in these partitions\n"
           "  -P, --priority          a waiting job once for each of its partitions\n"
           "  -q, --qos=NAMES         only jobs with these qualities of service\n"
           "  -R, --reservation=NAME  only jobs in this reservation\n"
           "  -s, --steps[=IDS]       list steps\n"
           "  -S, --sort=LETTERS      order, such as P,t,-p (- for descending)\n"
           "      --start             when waiting jobs are expected to start\n"
           "  -t, --states=STATES     only jobs in these states, or 'all'\n"
           "  -u, --user=NAMES        only jobs of these users (names or numbers)\n"
           "  -v, --verbose           say how many lines there were\n"
           "  -w, --nodelist=NODES    only jobs on these nodes\n"
           "\n"
           "Help options:\n"
           "      --help              this text\n"
           "      --helpFormat        the names -O knows\n"
           "      --helpstate         the states -t knows\n"
           "      --usage             the options in brief\n"
           "  -V, --version           the version\n";
}

std::string squeue_help_states() {
    std::string text;
    for (const std::string_view name : kStates) text += fmt::format("{}\n", name);
    return text;
}

std::string squeue_help_format() {
    std::vector<std::string_view> names;
    for (const auto& field : format::job_fields()) names.push_back(field.name);
    return in_four_columns(names);
}

std::string in_four_columns(std::span<const std::string_view> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("{:<20}", names[i]);
        if (i % 4 == 3 || i + 1 == names.size()) text += '\n';
    }
    return text;
}

}  // namespace switchyard::cli
