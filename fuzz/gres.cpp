// gres.cpp: --gres and --gpus. A list of requests reads back as it is printed.
#include "model/gres.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    for (const auto& requests : {model::parse_gres(text), model::parse_gpus(text)}) {
        if (!requests) continue;
        for (const std::string& shown :
             {model::to_string(*requests), model::to_tres_string(*requests)}) {
            const auto again = model::parse_gres(shown);
            fuzz::must(again && *again == *requests, "printed gres read back", shown);
        }
    }
    return 0;
}

}  // namespace switchyard
