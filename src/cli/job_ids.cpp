#include "cli/job_ids.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "os/users.hpp"

namespace switchyard::cli {

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c == ',' && depth <= 0) {
            if (!part.empty()) parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    if (!part.empty()) parts.push_back(part);
    return parts;
}

Result<std::vector<model::JobSelector>> parse_job_list(std::string_view text) {
    std::vector<model::JobSelector> selectors;
    for (const std::string& part : split_list(text)) {
        auto selector = model::parse_job_selector(trim(part));
        if (!selector) return fail(Errc::InvalidJobId, part);
        selectors.push_back(*std::move(selector));
    }
    return selectors;
}

std::optional<std::uint32_t> find_uid(const std::string& user) {
    if (const auto found = os::find_user(user)) return found->uid;
    const auto number = parse_uint(user);
    if (number && *number < std::numeric_limits<std::uint32_t>::max()) {
        return static_cast<std::uint32_t>(*number);
    }
    return std::nullopt;
}

std::optional<std::string> find_user_name(std::uint32_t uid) {
    const auto found = os::find_user(uid);
    if (!found) return std::nullopt;
    return found->name;
}

Result<std::vector<std::string>> parse_node_list(std::string_view text) {
    SY_TRY(std::vector<std::string> names, model::expand_hostlist(text));
    for (std::string& name : names) {
        if (name != "localhost") continue;
        std::array<char, 256> host{};
        if (gethostname(host.data(), host.size() - 1) == 0) name = host.data();
        name = name.substr(0, name.find('.'));
    }
    return names;
}

Result<std::vector<std::string>> read_words(const std::string& path) {
    const bool standard_input = path == "-";
    std::FILE* file = standard_input ? stdin : std::fopen(path.c_str(), "re");
    if (file == nullptr) {
        return fail(Errc::Io, fmt::format("Unable to open {}: {}", path, std::strerror(errno)));
    }
    std::string text;
    std::array<char, 65536> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
        text.append(buffer.data(), n);
        if (text.size() > limits::kScriptBytesMax) break;
    }
    if (!standard_input) std::fclose(file);
    // Commas inside brackets belong to their word.
    for (char& c : text) {
        if (c == '\n' || c == '\r' || c == '\t' || c == ' ') c = ',';
    }
    return split_list(text);
}

}  // namespace switchyard::cli
