#include "cli/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/message.hpp"

namespace switchyard::cli {

Result<Session> open_session(const std::string& program) {
    SY_TRY(const std::string path, config::find_config_file());
    SY_TRY(config::Config config, config::load_client_config(path));
    SY_TRY(client::Connection connection, client::Connection::open(config, program));
    return Session{std::move(config), std::move(connection)};
}

void say_call_failed(std::string_view program, std::string_view call, const Error& error) {
    if (error.code == Errc::NotFound || error.code == Errc::InvalidArgument) {
        say_error(program, error.message);
        return;
    }
    std::fflush(stdout);
    const std::string line = fmt::format("{}: {}\n", call, visible_lines(error.message));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

bool is_our_cluster(std::string_view program, std::string_view names,
                    const config::Config& config) {
    for (const std::string_view name : split(names, ',')) {
        if (equals_ignoring_case(name, "all") || equals_ignoring_case(name, config.cluster_name)) {
            continue;
        }
        say_error(program, fmt::format("'{}' can't be reached now, or it is an invalid entry for "
                                       "--cluster. This cluster is '{}'",
                                       name, config.cluster_name));
        return false;
    }
    return true;
}

}  // namespace switchyard::cli
