#include "cli/submission/messages.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/text.hpp"
#include "cli/message.hpp"
#include "options/help.hpp"

namespace switchyard::cli {
namespace {

using options::Command;
using options::Fault;

std::string_view failure_words(Command command) {
    switch (command) {
        case Command::Sbatch:
            return "Batch job submission failed";
        case Command::Salloc:
            return "Job submit/allocate failed";
        case Command::Srun:
            return "Unable to allocate resources";
    }
    return "";
}

int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return otherwise;
    const auto number = parse_int(text);
    if (number && *number != 0 && *number > -256 && *number < 256) return static_cast<int>(*number);
    return otherwise;
}

}  // namespace

int error_exit_code() { return number_from("SLURM_EXIT_ERROR", 1); }
int immediate_exit_code() { return number_from("SLURM_EXIT_IMMEDIATE", error_exit_code()); }

int complain(Command command, const Fault& fault) {
    const std::string_view program = to_string(command);
    switch (fault.kind) {
        case Fault::Kind::Unrecognized:
            say_try_help(program);
            break;
        case Fault::Kind::Refused:
            say_error(program, fmt::format("{}: {}", failure_words(command), fault.text));
            break;
        default:
            // What Slurm calls fatal is so called in the text.
            for (const std::string_view line : split(fault.text, '\n')) {
                if (line.starts_with("fatal: ")) {
                    say(program, line);
                } else {
                    say_error(program, line);
                }
            }
    }
    const int code = exit_code(fault);
    return code == 1 ? error_exit_code() : code;
}

int submission_failed(Command command, const Error& error, const std::vector<std::string>& notes) {
    const std::string_view program = to_string(command);
    for (const std::string& note : notes) say_error(program, note);
    // Slurm's commands see these themselves, before they submit.
    if (error.code == Errc::InvalidGres || error.code == Errc::NotFound) {
        say_error(program, error.message);
    } else {
        say_error(program, fmt::format("{}: {}", failure_words(command), error.message));
    }
    return error.code == Errc::ImmediateFailed ? immediate_exit_code() : error_exit_code();
}

void inform(const options::JobRequest& request, std::string_view text) {
    if (request.ask.quiet == 0) say(to_string(request.command), text);
}

void explain(const options::JobRequest& request, std::string_view text) {
    if (request.ask.verbose > 0) say(to_string(request.command), text);
}

void say_what_was_understood(const options::JobRequest& request) {
    const std::string_view program = to_string(request.command);
    for (const std::string& warning : request.warnings) say(program, "warning: " + warning);
    if (request.ask.verbose == 0) return;
    for (const std::string& line : defined_options(request)) say(program, line);
}

}  // namespace switchyard::cli
