// host_file.cpp: files of node names: SLURM_HOSTFILE of an arbitrary distribution, -w and -x.
#include <algorithm>

#include "fuzz/config_folder.hpp"
#include "options/parse.hpp"

namespace switchyard {
namespace {

// A range of more names than this takes a second; how wide it may be is hostlist.cpp's matter.
constexpr std::ptrdiff_t kDigitsMax = 3;

bool has_wide_range(std::string_view text) {
    std::ptrdiff_t digits = 0;
    return std::ranges::any_of(text, [&](char c) {
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        return digits > kDigitsMax;
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (has_wide_range(fuzz::as_text(data, size))) return 0;
    static const fuzz::ConfigFolder folder;
    const std::string path = folder.write("hosts", fuzz::as_text(data, size));
    options::Surroundings around;
    around.now = Instant{Seconds{1'800'000'000}};
    around.work_dir = "/";
    around.environment = {"SLURM_HOSTFILE=" + path};
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"srun", "--distribution=arbitrary", "true"},
          std::vector<std::string>{"srun", "--distribution=arbitrary", "-n3", "true"},
          std::vector<std::string>{"srun", "-w", path, "-x", path, "true"}}) {
        options::JobRequest request;
        request.command = options::Command::Srun;
        std::size_t operands = 0;
        if (options::apply_words(request, words, options::Source::CommandLine, around, &operands))
            continue;
        if (options::finish(request, around)) continue;
        auto nodes = request.job.required_nodes;
        std::ranges::sort(nodes);
        fuzz::must(std::ranges::adjacent_find(nodes) == nodes.end(), "a job needs a node once");
        fuzz::must(request.task_nodes.empty() || request.job.tasks == request.task_nodes.size(),
                   "an arbitrary distribution has a node for each task");
    }
    return 0;
}

}  // namespace switchyard
