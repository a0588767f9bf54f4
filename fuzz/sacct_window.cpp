// sacct_window.cpp: what sacct is asked for: -S and -E, -s, ranges and formats, one a line.
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "cli/sacct/sacct_options.hpp"
#include "cli/testing/command_line.hpp"
#include "fuzz/fuzz.hpp"
#include "view/testing/samples.hpp"

namespace switchyard {
namespace {

constexpr Instant kNow{Seconds{1'800'000'000}};
// What each line is given to.
constexpr const char* kOptions[] = {
    "--starttime", "--endtime", "--state", "--nnodes",   "--timelimit-min", "--timelimit-max",
    "--units",     "--jobs",    "--ncpus", "--nodelist", "--reason",        "--constraints"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (text.contains('\0')) return 0;
    std::vector<std::string> words;
    std::size_t at = 0;
    for (const std::string_view line : split(text, '\n')) {
        if (at == std::size(kOptions)) break;
        const char* option = kOptions[at++];
        if (!line.empty()) words.insert(words.end(), {option, std::string(line)});
    }
    cli::CommandLine command("sacct", std::move(words));
    const auto parsed = cli::parse_sacct(command.argc(), command.argv(), kNow);
    if (parsed.exit_code) return 0;
    fuzz::must(parsed.options.from <= parsed.options.to, "a window does not end before it begins",
               text);
    using namespace view::samples;
    const model::Job waits = job(1, spec("waits"), pending(model::Reason::Priority));
    const model::Job runs = job(2, spec("runs"), running({grant("n1", 4)}, 20, 60));
    for (const model::Job& each : {waits, runs}) {
        (void)cli::is_wanted(parsed.options, each);
        (void)cli::wants_job_line(parsed.options, each);
    }
    return 0;
}

}  // namespace switchyard
