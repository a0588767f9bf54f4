// write.cpp: scontrol write: a job's script, or the configuration, as a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/config_file.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "client/client.hpp"
#include "model/job_array.hpp"
#include "model/time_format.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

Status write_all(int fd, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(Errc::Io, fmt::format("{}: {}", path, std::strerror(errno)));
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

// `refusal` is what is said of a file that cannot be made.
Status write_file(const std::string& path, std::string_view text, mode_t mode,
                  const std::string& refusal) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0) return fail(Errc::Io, fmt::format("{}: {}", refusal, std::strerror(errno)));
    const Status written = write_all(fd, text, path);
    ::close(fd);
    return written;
}

void write_batch_script(Scontrol& control, const Words& words) {
    constexpr std::string_view kCall = "job script retrieval failed";
    if (words.empty() || words.size() > 2) {
        return control.complain("usage: write batch_script JOBID [FILE|-]");
    }
    const auto selector = model::parse_job_selector(words[0]);
    if (!selector) return control.say_failed(kCall, fail(Errc::InvalidJobId).error);
    wire::Request request;
    request.mutable_script()->set_job(selector->job.value);
    const auto reply = call_controller(control, kCall, request);
    if (!reply) return;
    const std::string& script = reply->script().script();
    if (words.size() == 2 && words[1] == "-") return print(script);
    const std::string path =
        words.size() == 2 ? words[1] : fmt::format("slurm-{}.sh", selector->job.value);
    constexpr mode_t kOwnerOnly = 0700;  // A script may hold secrets.
    const Status written =
        write_file(path, script, kOwnerOnly, fmt::format("failed to open file `{}`", path));
    if (!written) return control.complain(written.error().message);
    print(fmt::format("batch script for job {} written to {}\n", selector->job.value, path));
}

// Where the configuration goes: the file that is named, else SLURM_CONF_OUT, else beside the
// slurm.conf in use; a moment behind each, so that nothing is written over.
std::string config_path(const Words& words, const std::string& in_use, const std::string& when) {
    const char* variable = std::getenv("SLURM_CONF_OUT");
    const std::string path = !words.empty() ? words[0] : variable != nullptr ? variable : in_use;
    return path + "." + when;
}

void write_config(Scontrol& control, const Words& words) {
    if (words.size() > 1) return control.complain("too many arguments for keyword:write");
    constexpr std::string_view kCall = "slurm_load_ctl_conf error";
    wire::Request request;
    request.mutable_config();
    const auto reply = call_controller(control, kCall, request);
    if (!reply) return;
    ConfigValues values;
    std::string in_use;
    for (const wire::KeyValue& entry : reply->config().values()) {
        values.emplace_back(entry.key(), entry.value());
        if (entry.key() == "SLURM_CONF") in_use = entry.value();
    }
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto cluster = client::fetch_cluster(session->connection);
    if (!cluster) return control.say_failed(kCall, cluster.error());
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    const std::string when = model::format_instant(now);
    const std::string path = config_path(words, in_use, when);
    const std::string text = config_file(values, cluster->nodes.nodes, cluster->partitions, when);
    constexpr mode_t kForAll = 0644;
    const Status written =
        write_file(path, text, kForAll, fmt::format("Could not create file {}", path));
    if (!written) return control.complain(written.error().message);
    print(fmt::format("Slurm config saved to {}\n", path));
}

}  // namespace

void write(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for keyword:write");
    const Words rest(words.begin() + 1, words.end());
    if (starts_with_ignoring_case("batch_script", words[0]))
        return write_batch_script(control, rest);
    if (starts_with_ignoring_case("config", words[0])) return write_config(control, rest);
    control.complain(fmt::format("invalid write argument:{}", words[0]));
}

}  // namespace switchyard::cli
