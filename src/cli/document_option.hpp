// document_option.hpp: --json and --yaml of any command: what was asked for, and the frame that all
// documents have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.hpp"
#include "view/document.hpp"

namespace switchyard::cli {

// Nullopt kind: columns or records as usual.
struct DocumentWish {
    std::optional<view::DocumentKind> kind;
    bool compact = false;              // SLURM_JSON=compact
    view::YamlLayout yaml;             // SLURM_YAML
    std::vector<std::string> command;  // As typed, for "meta".
};

// The kind, or an exit code when "list" was asked for or no such version exists.
Taken take_document(DocumentWish& wish, view::DocumentKind kind, const OptionUse& use);

// For the table of a command: json_option<&Options::document>() and its sisters. The value is the
// version of the data parser.
template <auto Member, view::DocumentKind Kind>
Taken keep_document(Owner<Member>& options, const OptionUse& use) {
    return take_document(options.*Member, Kind, use);
}
template <auto Member>
constexpr Option<Owner<Member>> json_option() {
    return {{"json", 0, Argument::Optional, "VERSION", "a JSON document (=list: known versions)"},
            keep_document<Member, view::DocumentKind::Json>};
}
template <auto Member>
constexpr Option<Owner<Member>> yaml_option() {
    return {{"yaml", 0, Argument::Optional, "VERSION", "a YAML document (=list: known versions)"},
            keep_document<Member, view::DocumentKind::Yaml>};
}

// "compact", "pretty", "no_tag", "complex", comma separated. A word that is none ends a command
// that was asked for a document, and no other.
Taken take_layout(DocumentWish& wish, view::DocumentKind kind, const OptionUse& use);

template <auto Member, view::DocumentKind Kind>
Taken keep_layout(Owner<Member>& options, const OptionUse& use) {
    return take_layout(options.*Member, Kind, use);
}
template <auto Member>
constexpr Option<Owner<Member>> json_layout_option() {
    return {
        {.help = "how JSON is written: pretty (the default) or compact", .variables = "SLURM_JSON"},
        keep_layout<Member, view::DocumentKind::Json>};
}
template <auto Member>
constexpr Option<Owner<Member>> yaml_layout_option() {
    return {{.help = "how YAML is written: pretty (the default), compact, no_tag",
             .variables = "SLURM_YAML"},
            keep_layout<Member, view::DocumentKind::Yaml>};
}

// A document on standard output, open for the values of the command.
view::Document open_document(const DocumentWish& wish);
// What stands after them: "meta", "errors", "warnings".
void close_document(view::Document& document, const DocumentWish& wish, const std::string& cluster);

}  // namespace switchyard::cli
