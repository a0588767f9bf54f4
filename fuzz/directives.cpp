// directives.cpp: a batch script with its #SBATCH lines, through every option's parser.
#include "fuzz/fuzz.hpp"
#include "options/parse.hpp"
#include "options/script.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view script = fuzz::as_text(data, size);
    (void)options::check_script(script);
    const auto directives = options::scan_directives(script);

    options::Surroundings around;
    around.now = Instant{Seconds{1'800'000'000}};
    around.work_dir = "/home/someone";
    options::JobRequest request;
    if (options::apply_script(request, directives, around)) return 0;
    (void)options::finish(request, around);
    return 0;
}

}  // namespace switchyard
