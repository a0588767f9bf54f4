#include "view/job/job_table.hpp"

#include "base/text.hpp"

namespace switchyard::view {
namespace {

template <class Row>
FieldTable<Row> bind(const TableRequest& request, std::span<const Field<Row>> fields,
                     std::string_view default_format) {
    if (equals_ignoring_case(request.format, "%all")) {
        return FieldTable<Row>::by_letter(fields, all_columns(fields));
    }
    if (request.format.empty() && !request.long_format.empty()) {
        return FieldTable<Row>::by_name(fields, parse_long_format(request.long_format));
    }
    const std::string_view format = request.format.empty() ? default_format : request.format;
    return FieldTable<Row>::by_letter(fields, parse_letter_format(format));
}

template <class Row>
void add_row(SortedLines& lines, const SortOrder& order, const FieldTable<Row>& table,
             const Row& row) {
    lines.add([&](OrderKey& key) { order.add_key(key, row); },
              [&](std::string& out) { table.append_row(out, row); });
}

}  // namespace

Result<JobTable> JobTable::make(const TableRequest& request) {
    JobTable made;
    made.table_ = bind(request, job_fields(), kJobFormat);
    SY_TRY(made.order_, SortOrder::parse_for_jobs(request.sort.empty() ? kJobSort : request.sort));
    return made;
}

void JobTable::add_line(SortedLines& lines, const JobRow& row) const {
    add_row(lines, order_, table_, row);
}

void JobTable::add_elements(SortedLines& lines, const model::Job& job, const ViewContext& view,
                            const Split& split, const std::string* partition) const {
    const bool block = job.array && !job.array->element && !job.array->pending.empty();
    if (!split.each_element || !block) return add_line(lines, {job, view, std::nullopt, partition});
    for (const auto& [first, last] : job.array->pending.intervals()) {
        for (std::uint64_t element = first; element <= last; ++element) {
            add_line(lines, {job, view, static_cast<std::uint32_t>(element), partition});
        }
    }
}

void JobTable::add(SortedLines& lines, const model::Job& job, const ViewContext& view,
                   const Split& split) const {
    const bool pending = std::holds_alternative<model::Pending>(job.phase);
    if (!split.each_partition || !pending || job.spec->partitions.size() < 2)
        return add_elements(lines, job, view, split, nullptr);
    for (const std::string& partition : job.spec->partitions)
        add_elements(lines, job, view, split, &partition);
}

Result<StepTable> StepTable::make(const TableRequest& request) {
    StepTable made;
    made.table_ = bind(request, step_fields(), kStepFormat);
    SY_TRY(made.order_,
           SortOrder::parse_for_steps(request.sort.empty() ? kStepSort : request.sort));
    return made;
}

void StepTable::add(SortedLines& lines, const StepRow& row) const {
    add_row(lines, order_, table_, row);
}

}  // namespace switchyard::view
