// journal.cpp: what an agent finds in its spool of the scripts that began there before.
#include "agent/journal.hpp"

#include "fuzz/config_folder.hpp"
#include "os/log.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ConfigFolder folder;
    constexpr Instant kNow{Seconds{1'800'000'000}};
    std::string text(fuzz::as_text(data, size));
    if (text.starts_with('+')) text.replace(0, 1, "switchyard journal 1 fuzz\n");
    const std::string path = folder.write("journal", text);
    const os::Log log(os::Log::Level::Quiet);
    agent::Journal read(log);
    read.open(path, "fuzz", kNow);
    agent::Journal again(log);
    again.open(path, "fuzz", kNow);
    fuzz::must(again.scripts() == read.scripts(), "what was read is written and read again");
    return 0;
}

}  // namespace switchyard
