// dependency.cpp: --dependency, and jobs as scancel and scontrol take them.
#include "model/dependency.hpp"
#include "fuzz/fuzz.hpp"
#include "model/job_array.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (const auto dependency = model::parse_dependency(text); dependency) {
        fuzz::must(!model::to_string(*dependency).empty() || dependency->empty(),
                   "a dependency has a printed form");
    }
    (void)model::parse_job_selector(text);
    return 0;
}

}  // namespace switchyard
