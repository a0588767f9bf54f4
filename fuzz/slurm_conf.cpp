// slurm_conf.cpp: a whole slurm.conf, as daemons and as commands read it.
#include "config/config.hpp"
#include "fuzz/config_folder.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ConfigFolder folder;
    const std::string_view text = fuzz::as_text(data, size);
    if (fuzz::includes_elsewhere(text)) return 0;
    const std::string path = folder.write("slurm.conf", text);
    const auto whole = config::load_config(path);
    const auto brief = config::load_client_config(path);
    fuzz::must(!whole || brief, "what daemons can read, commands can");
    fuzz::must(!whole || whole->controller_socket() == brief->controller_socket(),
               "commands find the socket of the daemons");
    return 0;
}

}  // namespace switchyard
