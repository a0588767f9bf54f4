// page_test.cpp: every option of Slurm 25.11 is in the table, and docs/options.md says what the
// table does.
#include "options/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace switchyard::options {
namespace {

constexpr std::string_view kOfAll =
    "account acctg-freq bb bbf begin chdir cluster-constraint clusters comment "
    "consolidate-segments constraint container container-id container-type contiguous core-spec "
    "cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot "
    "dependency distribution exclude exclusive extra extra-node-info gid gpu-bind "
    "gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags help "
    "hint hold job-name licenses mail-type mail-user mcs-label mem mem-bind mem-per-"
    "cpu mem-per-gpu mem-update mincpus network nice no-kill nodefile nodelist nodes ntasks "
    "ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket oom-kill-step "
    "overcommit oversubscribe partition power prefer priority profile qos quiet "
    "reboot reservation resources resv-ports segment signal sockets-per-node spread-job spread-"
    "segments stepmgr switches thread-spec threads-per-core time time-min tmp tres-"
    "bind tres-per-task uid usage use-min-nodes verbose version wckey";
constexpr std::string_view kOfSbatch =
    "array batch error export export-file get-user-env ignore-pbs input kill-on-"
    "invalid-dep no-requeue open-mode output parsable propagate requeue test-only "
    "wait wait-all-nodes wrap";
constexpr std::string_view kOfSalloc =
    "bell get-user-env immediate kill-command no-bell no-shell wait-all-nodes x11";
constexpr std::string_view kOfSrun =
    "accel-bind async bcast bcast-exclude compress cpu-bind disable-status epilog "
    "error exact export external-launcher het-group ignore-signals immediate input interactive "
    "jobid "
    "kill-on-bad-exit label mpi msg-timeout multi-prog no-allocate ntasks-per-tres "
    "open-mode output overlap preserve-env prolog propagate pty quit-on-interrupt "
    "relative send-libs slurmd-debug task-epilog task-prolog test-only threads "
    "treewidth unbuffered wait wait-for-children x11";

std::string content_of(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void expect_all_known(Command command, std::string_view names) {
    for (const std::string_view name : split(names, ' ')) {
        const auto is_it = [&](const Option* option) {
            return option->name == name && option->applies_to(command);
        };
        EXPECT_TRUE(std::ranges::any_of(all_options(), is_it))
            << to_string(command) << " --" << name;
    }
}

TEST(OptionsPage, EveryOptionOfSlurmIsInTheTable) {
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun})
        expect_all_known(command, kOfAll);
    expect_all_known(Command::Sbatch, kOfSbatch);
    expect_all_known(Command::Salloc, kOfSalloc);
    expect_all_known(Command::Srun, kOfSrun);
}

// The numbers of table_order.inc, ten in a line.
std::string order_by_name() {
    const std::vector<const Option*> parts = options_by_part();
    std::vector<std::size_t> places(parts.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, {}, [&](std::size_t place) { return parts[place]->name; });
    std::string text;
    for (std::size_t i = 0; i < places.size(); ++i) {
        text += std::to_string(places[i]);
        text += i % 10 == 9 || i + 1 == places.size() ? ",\n" : ", ";
    }
    return text;
}

TEST(OptionsPage, TheOrderIsThatOfTheNames) {
    if (std::getenv("SY_WRITE") != nullptr) std::ofstream(SY_OPTIONS_ORDER) << order_by_name();
    EXPECT_EQ(content_of(SY_OPTIONS_ORDER), order_by_name())
        << "the table has changed: SY_WRITE=1 options_test writes table_order.inc anew";
}

TEST(OptionsPage, AnOptionThatIsNotFollowedSaysWhy) {
    for (const Option* option : all_options()) {
        if (fate_of(*option) == Fate::Warned) EXPECT_FALSE(option->why.empty()) << option->name;
    }
}

TEST(OptionsPage, SaysWhatTheTableDoes) {
    if (std::getenv("SY_WRITE") != nullptr) std::ofstream(SY_OPTIONS_PAGE) << options_page();
    EXPECT_EQ(content_of(SY_OPTIONS_PAGE), options_page())
        << "the table has changed: SY_WRITE=1 options_test writes docs/options.md anew";
}

}  // namespace
}  // namespace switchyard::options
