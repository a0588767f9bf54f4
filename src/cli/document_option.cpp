#include "cli/document_option.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

// The shape that is written, and the older versions whose readers find their keys in it.
constexpr std::string_view kParser = "v0.0.45";
constexpr std::string_view kVersions[] = {"v0.0.42", "v0.0.43", "v0.0.44", kParser};

}  // namespace

Taken take_document(DocumentWish& wish, view::DocumentKind kind, const OptionUse& use) {
    const bool is_json = kind == view::DocumentKind::Json;
    if (equals_ignoring_case(use.value, "list")) {
        std::fputs("Possible data_parser plugins:\n", stderr);
        for (const std::string_view version : kVersions) {
            print(fmt::format("data_parser/{}\n", version));
        }
        return 0;
    }
    std::string_view version = use.value;
    if (version.starts_with("data_parser/")) version.remove_prefix(version.find('/') + 1);
    version = version.substr(0, version.find('+'));  // "+fast" and the like are wishes.
    const bool known =
        version.empty() || std::ranges::find(kVersions, version) != std::end(kVersions);
    if (!known) {
        return refuse(use.program,
                      fmt::format("application/{} output not supported by data_parser/{}",
                                  is_json ? "json" : "x-yaml", version));
    }
    wish.kind = kind;
    return std::nullopt;
}

Taken take_layout(DocumentWish& wish, view::DocumentKind kind, const OptionUse& use) {
    bool compact = false, pretty = use.value.empty(), tags = true, known = true;
    for (const std::string_view word : split(use.value, ',')) {
        if (equals_ignoring_case(word, "pretty")) {
            pretty = true;
        } else if (equals_ignoring_case(word, "compact")) {
            compact = true;
        } else if (equals_ignoring_case(word, "no_tag")) {
            tags = false;
        } else if (!word.empty() && !equals_ignoring_case(word, "complex")) {
            known = false;
        }
    }
    if (!known && wish.kind) {
        say(use.program,
            fmt::format("fatal: Unable to parse serializer \"{}\" flags: Invalid argument",
                        use.value));
        return 1;
    }
    if (kind == view::DocumentKind::Json) {
        wish.compact = !pretty;
    } else {
        wish.yaml = {.tags = tags, .folds = pretty || !compact};
    }
    return std::nullopt;
}

view::Document open_document(const DocumentWish& wish) {
    const bool compact = wish.compact && *wish.kind == view::DocumentKind::Json;
    return view::Document(
        compact ? view::DocumentKind::CompactJson : *wish.kind,
        [](std::string_view text) { print(text); }, wish.yaml);
}

void close_document(view::Document& document, const DocumentWish& wish,
                    const std::string& cluster) {
    document.begin_map("meta");
    document.begin_map("plugin");
    document.text("type", "");
    document.text("name", "");
    document.text("data_parser", fmt::format("data_parser/{}", kParser));
    document.text("accounting_storage", "");
    document.end();
    document.begin_map("client");
    const char* terminal = ttyname(STDIN_FILENO);
    document.text("source", terminal != nullptr ? terminal : "");
    document.text("user", find_user_name(geteuid()).value_or(std::to_string(geteuid())));
    document.text("group", os::group_name(getegid()));
    document.end();
    document.texts("command", wish.command);
    const auto parts = split(kSlurmRelease, '.');
    document.begin_map("slurm");
    document.begin_map("version");
    document.text("major", parts[0]);
    document.text("micro", parts[2]);
    document.text("minor", parts[1]);
    document.end();
    document.text("release", kSlurmRelease);
    document.text("cluster", cluster);
    document.end();
    document.end();
    document.texts("errors", {});
    document.texts("warnings", {});
    document.finish();
    std::fflush(stdout);
}

}  // namespace switchyard::cli
