#include "cli/srun/streams.hpp"

#include "base/text.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kAsyncOutput = "slurm-%j.%s.out";

Stream read_mode(const std::string& text) {
    if (text.empty() || equals_ignoring_case(text, "all")) return {};
    if (equals_ignoring_case(text, "none"))
        return {.kind = Stream::Kind::None, .task = 0, .pattern = ""};
    if (const auto task = parse_uint(text); task && *task <= 0xffffffff) {
        return {.kind = Stream::Kind::OneTask,
                .task = static_cast<std::uint32_t>(*task),
                .pattern = ""};
    }
    const bool on_nodes = model::is_per_task(text) || model::is_per_node(text);
    return {.kind = on_nodes ? Stream::Kind::OnNodes : Stream::Kind::LocalFile,
            .task = 0,
            .pattern = text};
}

// Nothing can pass through an srun that leaves: what was not sent to a file goes to one.
Streams leave_behind(Streams streams) {
    const auto passes = [](const Stream& stream) { return stream.kind == Stream::Kind::Through; };
    const bool both = passes(streams.out) && passes(streams.err);
    const Stream file{
        .kind = Stream::Kind::LocalFile, .task = 0, .pattern = std::string(kAsyncOutput)};
    if (passes(streams.out)) streams.out = file;
    if (passes(streams.err)) streams.err = file;
    if (passes(streams.in)) streams.in = {.kind = Stream::Kind::None, .task = 0, .pattern = ""};
    streams.err_with_out = streams.err_with_out || both || streams.err == streams.out;
    return streams;
}

}  // namespace

Streams plan_streams(const options::LaunchSettings& launch) {
    Streams streams{.in = read_mode(launch.std_in),
                    .out = read_mode(launch.std_out),
                    .err = read_mode(launch.std_err),
                    .err_with_out = false};
    // Standard error goes where standard output was sent, unless it was sent somewhere itself.
    const bool sent =
        streams.out.kind != Stream::Kind::Through && streams.out.kind != Stream::Kind::OneTask;
    if (launch.std_err.empty() && sent) streams.err = streams.out;
    streams.err_with_out = sent && streams.err == streams.out;
    if (launch.async) return leave_behind(std::move(streams));
    if (launch.pty) {
        // A terminal has one stream each way, and it is task 0's.
        streams = {};
        streams.in = {.kind = Stream::Kind::OneTask, .task = 0, .pattern = ""};
    }
    return streams;
}

std::string pattern_for_nodes(const Stream& stream, bool srun_stays) {
    if (stream.kind == Stream::Kind::None) return "/dev/null";
    const bool theirs = stream.kind == Stream::Kind::OnNodes ||
                        (stream.kind == Stream::Kind::LocalFile && !srun_stays);
    return theirs ? stream.pattern : "";
}

}  // namespace switchyard::cli
