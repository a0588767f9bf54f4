#include "cli/submission/questions.hpp"

#include <string>

#include "base/version.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/submission/messages.hpp"
#include "config/config.hpp"
#include "options/help.hpp"

namespace switchyard::cli {
namespace {

Result<std::string> gres_help() {
    SY_TRY(const std::string path, config::find_config_file());
    SY_TRY(const config::Config config, config::load_config(path));
    std::string text = "Valid gres options are:\n";
    for (const std::string& name : config.gres_types) text += name + "[[:type]:count]\n";
    return text;
}

}  // namespace

std::optional<int> answered_help(const options::JobRequest& request) {
    std::string text;
    if (request.ask.help) text = help_text(request.command);
    if (request.ask.usage) text = usage_text(request.command);
    if (request.ask.version) text = std::string(kVersionLine) + "\n";
    if (request.ask.show_hints) {
        text =
            "Application hints:\n"
            "    --hint=compute_bound  use all cores of each socket\n"
            "    --hint=multithread    use all threads of each core\n"
            "    --hint=nomultithread  use one thread of each core\n";
    }
    if (request.ask.show_gres) {
        auto gres = gres_help();
        if (!gres) {
            say_error(to_string(request.command), gres.error().message);
            return error_exit_code();
        }
        text = *std::move(gres);
    }
    if (text.empty()) return std::nullopt;
    print(text);
    return 0;
}

}  // namespace switchyard::cli
