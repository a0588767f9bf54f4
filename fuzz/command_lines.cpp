// command_lines.cpp: whole command lines of the commands that list and act, a word a line. The
// first byte says which command.
#include <string>

#include "base/text.hpp"
#include "cli/sacct/sacct_options.hpp"
#include "cli/scancel/scancel_options.hpp"
#include "cli/sinfo/sinfo_options.hpp"
#include "cli/squeue/squeue_options.hpp"
#include "cli/strigger/strigger_options.hpp"
#include "cli/testing/command_line.hpp"
#include "fuzz/fuzz.hpp"
#include "options/parse.hpp"

namespace switchyard {
namespace {

constexpr Instant kNow{Seconds{1'800'000'000}};

template <options::Command Command>
void read_submission(std::vector<std::string> words) {
    options::Surroundings around;
    around.now = kNow;
    around.work_dir = "/home/someone";
    options::JobRequest request;
    request.command = Command;
    std::size_t operands = 0;
    if (options::apply_words(request, words, options::Source::CommandLine, around, &operands))
        return;
    fuzz::must(operands <= words.size(), "operands are words");
    (void)options::finish(request, around);
}

template <auto Parse>
void read_view(std::vector<std::string> words) {
    std::string program = std::move(words.front());
    words.erase(words.begin());
    cli::CommandLine line(std::move(program), std::move(words));
    Parse(line.argc(), line.argv());
}

struct Command {
    const char* name;
    void (*read)(std::vector<std::string> words);
};
const Command kCommands[] = {
    {"squeue", read_view<[](int argc, char** argv) { (void)cli::parse_squeue(argc, argv); }>},
    {"sinfo", read_view<[](int argc, char** argv) { (void)cli::parse_sinfo(argc, argv); }>},
    {"scancel", read_view<[](int argc, char** argv) { (void)cli::parse_scancel(argc, argv); }>},
    {"sacct", read_view<[](int argc, char** argv) { (void)cli::parse_sacct(argc, argv, kNow); }>},
    {"strigger", read_view<[](int argc, char** argv) {
         cli::TriggerOptions options;
         (void)cli::parse_trigger_options(argc, argv, options);
     }>},
    {"sbatch", read_submission<options::Command::Sbatch>},
    {"salloc", read_submission<options::Command::Salloc>},
    {"srun", read_submission<options::Command::Srun>},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const Command& command = kCommands[data[0] % std::size(kCommands)];
    const std::string_view text = fuzz::as_text(data + 1, size - 1);
    if (text.contains('\0')) return 0;
    std::vector<std::string> words{command.name};
    for (const std::string_view line : split(text, '\n')) words.emplace_back(line);
    command.read(std::move(words));
    return 0;
}

}  // namespace switchyard
