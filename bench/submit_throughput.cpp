// submit_throughput: how many durable submissions a second one connection gets from a running
// controller.
//
//   submit_throughput [--jobs N] [--in-flight M] [--environment BYTES] [--script BYTES]
//                     [--distinct] [--keep] [--run]
//
// SLURM_CONF chooses the cluster. The jobs are held, so that nothing but the submission is
// measured; they are cancelled at the end unless --keep. With --run they are not held: each runs
// `true`. With --distinct no two are alike: names, scripts, paths, comments and time limits differ
// as in a sweep of experiments.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "wire/blocking.hpp"
#include "wire/channel.hpp"
#include "wire/proto/request.pb.h"

namespace {

namespace config = switchyard::config;
namespace wire = switchyard::wire;

constexpr std::uint32_t kPerNode = 1;  // model::MemoryRequest::Per
constexpr std::uint64_t kMebibytes = 10;

constexpr const char* kMark = "throughput";  // By this wckey its jobs are known.

struct Options {
    std::size_t jobs = 50'000, in_flight = 1'000, environment = 2'000, script = 16;
    bool distinct = false, keep = false, run = false;
};

[[noreturn]] void die(const std::string& why) {
    std::fprintf(stderr, "submit_throughput: %s\n", why.c_str());
    std::exit(1);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        const auto number = [&] { return ++i < argc ? std::strtoull(argv[i], nullptr, 10) : 0; };
        if (name == "--jobs")
            options.jobs = number();
        else if (name == "--in-flight")
            options.in_flight = number();
        else if (name == "--environment")
            options.environment = number();
        else if (name == "--script")
            options.script = number();
        else if (name == "--distinct")
            options.distinct = true;
        else if (name == "--keep")
            options.keep = true;
        else if (name == "--run")
            options.keep = options.run = true;
        else
            die("unknown option " + std::string(name));
    }
    if (options.jobs == 0 || options.in_flight == 0)
        die("--jobs and --in-flight want a number above 0");
    return options;
}

wire::Request submission(const Options& options) {
    wire::Request request;
    request.set_protocol(wire::kProtocol);
    request.set_command("submit_throughput");
    wire::JobSpec* spec = request.mutable_submit()->mutable_spec();
    spec->set_name("throughput");
    spec->set_wckey(kMark);
    spec->set_work_dir("/tmp");
    spec->set_hold(!options.run);
    if (options.run) {
        spec->set_std_out("/dev/null");
        spec->mutable_memory()->set_per(kPerNode);
        spec->mutable_memory()->set_amount(kMebibytes);
    }
    wire::JobPayload* payload = request.mutable_submit()->mutable_payload();
    std::string script = "#!/bin/sh\ntrue\n";
    while (script.size() < options.script) script += "# and so on, for as long as it takes\n";
    payload->set_script(script);
    for (std::size_t bytes = 0; bytes < options.environment; bytes += 50) {
        payload->add_environment("VARIABLE_" + std::to_string(bytes) + "=" + std::string(36, 'v'));
    }
    return request;
}

// One job of a sweep: what a user's script would give sbatch.
void make_distinct(wire::JobSpec* spec, std::size_t number) {
    const std::size_t run = number % 100, sweep = number / 100;
    const std::string folder = fmt::format("/home/user/projects/vision/sweep-{:05}", sweep);
    const std::size_t minutes = 10 + number * 7 % 1430;
    spec->set_name(fmt::format("train-resnet-{:05}-{:02}", sweep, run));
    spec->set_user("user");
    spec->set_group("research");
    spec->set_account("vision");
    spec->set_work_dir(folder);
    spec->set_command(fmt::format("{}/run-{:02}.sh", folder, run));
    spec->set_std_out(fmt::format("{}/logs/%x-%j-{:02}.out", folder, run));
    spec->set_comment(fmt::format("lr=0.{:04} seed={}", number % 9973, number));
    spec->set_submit_line(fmt::format("sbatch -J train-resnet-{:05}-{:02} -t {} run-{:02}.sh",
                                      sweep, run, minutes, run));
    spec->set_submit_host("login1");
    spec->set_tasks(1);
    spec->set_cpus_per_task(1);
    spec->mutable_time_limit()->set_seconds(static_cast<std::int64_t>(minutes) * 60);
    spec->set_alloc_sid(static_cast<std::uint32_t>(4000 + sweep % 1000));
}

void send(wire::FrameSocket& socket, const wire::Request& request) {
    if (const switchyard::Status sent = socket.send(request.SerializeAsString()); !sent)
        die(sent.error().message);
}

wire::Reply receive(wire::FrameSocket& socket) {
    const auto frame = socket.receive();
    if (!frame) die(frame.error().message);
    wire::Reply reply;
    if (!reply.ParseFromArray(frame->data(), static_cast<int>(frame->size())))
        die("a reply that cannot be read");
    if (reply.has_failure()) die(reply.failure().message());
    return reply;
}

void cancel(wire::FrameSocket& socket) {
    wire::Request request;
    request.set_id(1);
    request.mutable_signal()->mutable_filter()->add_wckeys(kMark);
    request.mutable_signal()->mutable_filter()->add_uids(::geteuid());
    send(socket, request);
    receive(socket);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    const auto path = config::find_config_file();
    if (!path) die(path.error().message);
    const auto config = config::load_client_config(*path);
    if (!config) die(config.error().message);
    auto socket =
        wire::FrameSocket::connect_unix(config->controller_socket(), wire::kClientToController);
    if (!socket) die(socket.error().message);

    wire::Request request = submission(options);
    std::size_t sent = 0;
    const auto submit = [&] {
        request.set_id(++sent);
        if (options.distinct) make_distinct(request.mutable_submit()->mutable_spec(), sent);
        request.mutable_submit()->set_nonce(static_cast<std::uint64_t>(::getpid()) << 32 | sent);
        send(*socket, request);
    };
    const auto begin = std::chrono::steady_clock::now();
    while (sent < std::min(options.in_flight, options.jobs)) submit();
    for (std::size_t answered = 0; answered < options.jobs; ++answered) {
        if (!receive(*socket).has_submitted()) die("an answer that is no submission's");
        if (sent < options.jobs) submit();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%zu submissions, %zu in flight: %.2f s, %.0f a second\n", options.jobs,
                options.in_flight, took.count(), static_cast<double>(options.jobs) / took.count());
    if (!options.keep) cancel(*socket);
    return 0;
}
