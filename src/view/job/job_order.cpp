#include "view/job/job_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::view {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Any other letter has no effect on the order of steps.
constexpr std::string_view kStepLetters = "iNPlSMuUjA";
// Columns of jobs that Slurm does not sort by.
constexpr std::string_view kUnsortable = "akoqrswxyAEFKRWXYZ";

std::int64_t moment(const std::optional<Instant>& when, std::int64_t none) {
    return when ? unix_seconds(*when) : none;
}

std::int64_t limit_seconds(const model::Job& job) {
    const auto limit = time_limit(job);
    return !limit || limit->unlimited ? kNever : limit->seconds.count();
}

std::int64_t seconds_left(const JobRow& row) {
    const std::int64_t limit = limit_seconds(row.job);
    return limit == kNever ? kNever : limit - time_used(row.job, row.view.now).count();
}

std::uint32_t base_id(const model::Job& job) {
    return job.array ? job.array->array_id.value : job.id.value;
}

// Of an array.
std::int64_t element(const JobRow& row) {
    if (row.element) return *row.element;
    if (row.job.array->element) return *row.job.array->element;
    return !row.job.array->pending.empty() ? row.job.array->pending.front() : 0;
}

void add_id(OrderKey& key, const JobRow& row, bool descending) {
    key.add_number(base_id(row.job), descending);
    // Only within an array are the ids the same.
    if (row.job.array) key.add_number(element(row), descending);
}

void add_partition(OrderKey& key, const JobRow& row, bool descending) {
    CellBuffer room;
    key.add_text(row.partition != nullptr ? *row.partition : partition_text(row.job, room),
                 descending);
}

// A string in the order of its field; empty optional: the letter sorts by a number.
bool add_text_field(OrderKey& key, const JobRow& row, char letter, bool descending) {
    const model::JobSpec& spec = *row.job.spec;
    switch (letter) {
        case 'B':
            key.add_host(batch_host(row.job), descending);
            return true;
        case 'g':
            key.add_text(spec.group, descending);
            return true;
        case 'j':
            key.add_text(spec.name, descending);
            return true;
        case 'N':
            key.add_host(batch_host(row.job), descending);
            return true;
        case 'P':
            add_partition(key, row, descending);
            return true;
        case 't':
            key.add_text(model::short_name(model::state_of(row.job)), descending);
            return true;
        case 'T':
            key.add_text(model::long_name(model::state_of(row.job)), descending);
            return true;
        case 'u':
            key.add_text(spec.user, descending);
            return true;
        case 'v':
            key.add_text(spec.reservation, descending);
            return true;
        default:
            return false;
    }
}

// Nullopt: the letter sorts by what it shows.
std::optional<std::int64_t> number_field(const JobRow& row, char letter) {
    const model::JobSpec& spec = *row.job.spec;
    switch (letter) {
        case 'C':
            return cpu_count(row.job);
        case 'd':
            return static_cast<std::int64_t>(spec.tmp_disk.value);
        case 'D':
            return node_count(row.job);
        case 'e':
            return moment(shown_end(row.job), kNever);
        case 'G':
            return spec.gid;
        case 'H':
            return spec.sockets_per_node.value_or(0);
        case 'I':
            return spec.cores_per_socket.value_or(0);
        case 'J':
            return spec.threads_per_core.value_or(0);
        case 'l':
            return limit_seconds(row.job);
        case 'L':
            return seconds_left(row);
        case 'm':
            return static_cast<std::int64_t>(spec.memory.amount.value);
        case 'M':
            return time_used(row.job, row.view.now).count();
        case 'p':
        case 'Q':
            return shown_priority(row.job);
        case 'S':
            return moment(shown_start(row.job), kNever);
        case 'U':
            return spec.uid;
        case 'V':
            return unix_seconds(row.job.submitted);
        default:
            return std::nullopt;
    }
}

const Field<JobRow>* find_field(char letter) {
    const auto fields = job_fields();
    const auto found = std::ranges::find(fields, letter, &Field<JobRow>::letter);
    return found == fields.end() ? nullptr : &*found;
}

std::string job_letters() {
    std::string letters;
    for (const Field<JobRow>& field : job_fields()) {
        if (field.letter != 0 && !kUnsortable.contains(field.letter)) letters += field.letter;
    }
    return letters;
}

}  // namespace

Result<SortOrder> SortOrder::parse(std::string_view text, std::string_view letters,
                                   OtherLetters others) {
    SortOrder order;
    for (std::string_view term : split(text, ',')) {
        bool descending = false;
        while (term.starts_with('+') || term.starts_with('-')) {
            descending = term.front() == '-';
            term.remove_prefix(1);
        }
        // One cluster: all are equal by it.
        if (term.empty() || equals_ignoring_case(term, "cluster")) continue;
        for (const char letter : term) {  // "Pt" is "P,t".
            if (letters.contains(letter) && letter != kLetterWithoutEffect) {
                order.terms_.push_back({letter, descending});
            } else if (others == OtherLetters::Refuse && letter != kLetterWithoutEffect) {
                return fail(Errc::InvalidArgument,
                            fmt::format("Invalid sort specification: {}", letter));
            }
            descending = false;
        }
    }
    return order;
}

Result<SortOrder> SortOrder::parse_for_jobs(std::string_view text) {
    return parse(text, job_letters(), OtherLetters::Refuse);
}
Result<SortOrder> SortOrder::parse_for_steps(std::string_view text) {
    return parse(text, kStepLetters, OtherLetters::Skip);
}

bool SortOrder::has_only(std::string_view letters) const {
    return std::ranges::all_of(terms_,
                               [&](const Term& term) { return letters.contains(term.letter); });
}

void SortOrder::add_key(OrderKey& key, const JobRow& row) const {
    for (const Term& term : terms_) {
        if (term.letter == 'i') {
            add_id(key, row, term.descending);
        } else if (term.letter == 'z') {
            for (const char part : {'H', 'I', 'J'}) {
                key.add_number(number_field(row, part).value_or(0), term.descending);
            }
        } else if (add_text_field(key, row, term.letter, term.descending)) {
            continue;
        } else if (const auto number = number_field(row, term.letter); number) {
            key.add_number(*number, term.descending);
        } else if (const auto* field = find_field(term.letter); field != nullptr) {
            key.add_value(field->text(row), term.descending);
        }
    }
    key.add_number(moment(shown_start(row.job), 0), true);
    add_id(key, row, false);
}

void SortOrder::add_key(OrderKey& key, const StepRow& row) const {
    const JobRow job{row.job, row.view, {}, {}};
    const auto add_step_id = [&](bool descending) {
        add_id(key, job, descending);
        key.add_number(row.step.key.step.value, descending);
    };
    for (const Term& term : terms_) {
        switch (term.letter) {
            case 'i':
                add_step_id(term.descending);
                break;
            case 'N':
                key.add_host(row.step.layout.nodes.empty()
                                 ? std::string()
                                 : row.step.layout.nodes.front().grant.node,
                             term.descending);
                break;
            case 'P':
                key.add_text(row.job.partition, term.descending);
                break;
            case 'j':
                key.add_text(row.step.spec.name, term.descending);
                break;
            case 'A':
                key.add_number(extent_of(row.step).tasks, term.descending);
                break;
            case 'l': {
                const auto& limit = row.step.spec.time_limit;
                key.add_number(!limit || limit->unlimited ? kNever : limit->seconds.count(),
                               term.descending);
                break;
            }
            case 'S':
                key.add_number(unix_seconds(row.step.started), term.descending);
                break;
            case 'M':
                key.add_number(unix_seconds(row.step.started), !term.descending);
                break;
            case 'u':
                key.add_text(row.job.spec->user, term.descending);
                break;
            default:
                key.add_number(row.job.spec->uid, term.descending);
                break;
        }
    }
    add_step_id(false);
}

}  // namespace switchyard::view
