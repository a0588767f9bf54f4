#include "cli/message.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/visible.hpp"

namespace switchyard::cli {
namespace {

// One write a line, so that lines of several processes do not mix.
void write_line(const std::string& line) {
    std::fflush(stdout);
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

void say_error(std::string_view program, std::string_view text) {
    write_line(std::string(program) + ": error: " + visible_lines(text) + "\n");
}

int refuse(std::string_view program, std::string_view text) {
    say_error(program, text);
    return 1;
}

void say(std::string_view program, std::string_view text) {
    write_line(std::string(program) + ": " + visible_lines(text) + "\n");
}

void say_try_help(std::string_view program) {
    write_line("Try \"" + std::string(program) + " --help\" for more information\n");
}

}  // namespace switchyard::cli
