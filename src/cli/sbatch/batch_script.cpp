#include "cli/sbatch/batch_script.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/message.hpp"
#include "cli/submission/surroundings.hpp"
#include "io/fd.hpp"
#include "options/script.hpp"

namespace switchyard::cli {
namespace {

bool is_readable_file(const std::string& path) {
    struct stat facts{};
    return ::stat(path.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode) &&
           ::access(path.c_str(), R_OK) == 0;
}

// A name without a folder is looked for here first, then in PATH.
std::string find_script(const std::string& name, const options::Surroundings& surroundings) {
    if (name.starts_with('/')) return name;
    const std::string here = surroundings.work_dir + "/" + name;
    if (name.find('/') != std::string::npos || is_readable_file(here)) return here;
    const std::string path = surroundings.variable("PATH").value_or("");
    for (const std::string_view folder : split(path, ':')) {
        std::string candidate = std::string(folder) + "/" + name;
        if (is_readable_file(candidate)) return candidate;
    }
    return here;
}

// Up to one byte more than a script may have, so that its size can be refused.
std::optional<std::string> read_script(int fd) {
    std::string text;
    char chunk[65536];
    while (text.size() <= limits::kScriptBytesMax) {
        const ssize_t got = ::read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) return text;
        text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
}

std::optional<BatchScript> script_in_file(const std::vector<std::string>& operands,
                                          const options::Surroundings& surroundings) {
    BatchScript script;
    script.path = find_script(operands.front(), surroundings);
    script.default_name = base_name(operands.front());
    script.arguments.assign(operands.begin() + 1, operands.end());
    const io::Fd file(::open(script.path.c_str(), O_RDONLY | O_CLOEXEC));
    auto text = file ? read_script(file.get()) : std::nullopt;
    if (!text) {
        say_error("sbatch", fmt::format("Unable to open file {}", operands.front()));
        return std::nullopt;
    }
    script.text = *std::move(text);
    return script;
}

}  // namespace

std::optional<BatchScript> obtain_script(const options::JobRequest& request,
                                         const std::vector<std::string>& operands,
                                         const options::Surroundings& surroundings) {
    std::optional<BatchScript> script;
    if (request.ask.wrap) {
        if (!operands.empty()) {
            say_error("sbatch", "Script arguments not permitted with --wrap option");
            return std::nullopt;
        }
        script = BatchScript{.text = options::wrap_script(*request.ask.wrap),
                             .path = "",
                             .default_name = "wrap",
                             .arguments = {}};
    } else if (!operands.empty()) {
        script = script_in_file(operands, surroundings);
        if (!script) return std::nullopt;
    } else {
        auto text = read_script(STDIN_FILENO);
        if (!text) {
            say_error("sbatch", fmt::format("Unable to read the script from standard input: {}",
                                            std::strerror(errno)));
            return std::nullopt;
        }
        script = BatchScript{
            .text = *std::move(text), .path = "", .default_name = "sbatch", .arguments = {}};
    }
    if (const auto fault = options::check_script(script->text)) {
        for (const std::string& line : fault->lines) say_error("sbatch", line);
        return std::nullopt;
    }
    return script;
}

}  // namespace switchyard::cli
