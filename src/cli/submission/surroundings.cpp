#include "cli/submission/surroundings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <climits>

extern char** environ;

namespace switchyard::cli {
namespace {

std::string current_folder() {
    char path[PATH_MAX];
    return ::getcwd(path, sizeof path) != nullptr ? path : "/tmp";
}

}  // namespace

void open_standard_streams() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
}

options::Surroundings look_around() {
    options::Surroundings world;
    world.now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    world.work_dir = current_folder();
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    world.environment.assign(environ, environ + count);
    world.is_root = ::geteuid() == 0;
    return world;
}

std::vector<std::string> words_of(int argc, char** argv, options::Command command) {
    std::vector<std::string> words(argv, argv + argc);
    if (!words.empty()) words.front() = to_string(command);
    return words;
}

options::Environment environment_for_a_new_job(options::Environment environment) {
    if (!options::get_variable(environment, "SLURM_JOB_ID").empty())
        options::remove_job_description(environment);
    return environment;
}

std::string base_name(std::string_view path) {
    const auto slash = path.find_last_of('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string short_host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    const std::string_view whole(name);
    return std::string(whole.substr(0, whole.find('.')));
}

}  // namespace switchyard::cli
