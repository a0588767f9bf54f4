// diag_document.hpp: sdiag --json and --yaml.
#pragma once

#include <string>

#include "cli/document_option.hpp"

namespace switchyard::wire {
class DiagReply;
}

namespace switchyard::cli::accounting {

void print_diag(const wire::DiagReply& diag, const DocumentWish& wish, const std::string& cluster);

}  // namespace switchyard::cli::accounting
