// multi_prog.cpp: the file of srun --multi-prog, as srun checks it and as nodes read it.
#include "model/multi_prog.hpp"

#include "fuzz/fuzz.hpp"

namespace switchyard {

// The first byte: how many tasks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::uint32_t tasks = 1 + data[0] % 32;
    const std::string_view file = fuzz::as_text(data + 1, size - 1);
    const std::vector<std::string> lines = model::multi_prog_lines(file);
    const bool is_fine = static_cast<bool>(model::check_multi_prog(lines, tasks, "file"));
    for (std::uint32_t task = 0; task < tasks; ++task) {
        const auto command = model::multi_prog_command(lines, task);
        fuzz::must(!is_fine || command, "what srun lets pass the nodes can read", file);
        fuzz::must(!command || !command->empty(), "a command has a program", file);
    }
    return 0;
}

}  // namespace switchyard
