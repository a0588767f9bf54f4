// message.hpp: how commands speak to people: "sbatch: error: ..." on standard error, as Slurm's do.
// What a terminal would act on is written out: a message repeats the words of users.
#pragma once

#include <string_view>

namespace switchyard::cli {

void say_error(std::string_view program, std::string_view text);  // "sbatch: error: text\n"
void say(std::string_view program, std::string_view text);        // "sbatch: text\n"
// The same, for a command that ends with it: the exit code 1.
int refuse(std::string_view program, std::string_view text);
// 'Try "sbatch --help" for more information'
void say_try_help(std::string_view program);

}  // namespace switchyard::cli
