// columns.cpp: the formats and orders of squeue, sinfo and sacct over jobs and nodes whose texts
// are hostile. The first line is the format, the second the order, the rest the texts.
#include <string>

#include "base/visible.hpp"
#include "fuzz/fuzz.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/job/job_table.hpp"
#include "view/node/node_table.hpp"
#include "view/table/report_table.hpp"
#include "view/testing/samples.hpp"

namespace switchyard {
namespace {

using view::JobTable;
using view::NodeTable;
using view::NodeTableRequest;
using view::NodeView;
using view::ReportStyle;
using view::ReportTable;
using view::SacctRow;
using view::SacctView;
using view::SortedLines;
using view::TableRequest;
using view::ViewContext;
namespace samples = view::samples;

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::vector<model::Job> hostile_jobs(const std::string& text) {
    model::JobSpec spec = samples::spec(text);
    spec.comment = spec.account = spec.wckey = spec.work_dir = spec.user = spec.std_out = text;
    spec.partitions = {text};
    return {samples::job(1, spec, samples::pending(model::Reason::Resources)),
            samples::job(2, spec, samples::running({samples::grant("n1", 4)}, 20, 60))};
}

void must_be_lines(std::string_view lines, std::size_t count, std::string_view shown) {
    std::size_t ends = 0;
    for (const char c : lines) {
        ends += c == '\n';
        fuzz::must(c == '\n' || !(c >= 0 && c < 0x20), "no control character is printed", shown);
    }
    fuzz::must(ends == count, "a job is one line", shown);
}

void show_jobs(const TableRequest& request, const std::vector<model::Job>& jobs) {
    const auto table = JobTable::make(request);
    if (!table) return;
    ViewContext context;
    context.now = samples::moment(100);
    SortedLines lines;
    for (const model::Job& job : jobs) table->add(lines, job, context, {});
    std::string text;
    lines.take([&](std::string_view piece) { text += piece; });
    // What is typed between columns is printed as it is.
    const bool is_plain_format = is_plain(request.format) && is_plain(request.long_format);
    if (is_plain_format) must_be_lines(text, jobs.size(), text);
    (void)table->header();
}

void show_nodes(const std::string& format, const std::string& sort, const std::string& text) {
    std::vector<model::Node> nodes = samples::nodes();
    nodes.front().comment = text;
    if (nodes[1].mark) nodes[1].mark->reason = text;
    for (const bool is_long : {false, true}) {
        NodeTableRequest request;
        (is_long ? request.long_format : request.format) = format;
        request.sort = sort;
        const NodeTable table = NodeTable::make(request);
        (void)table.header();
        NodeView context;
        context.now = samples::moment(100);
        (void)table.lines(samples::partitions(), nodes, context);
    }
}

void show_history(const std::string& format, const std::string& delimiter,
                  const std::vector<model::Job>& jobs) {
    for (const bool parsable : {false, true}) {
        ReportStyle style;
        style.parsable = parsable;
        if (!delimiter.empty()) style.delimiter = delimiter;
        const auto table = ReportTable<SacctRow>::make(view::sacct_fields(), format, style);
        if (!table) return;
        SacctView context;
        context.now = samples::moment(100);
        for (const model::Job& job : jobs) {
            const SacctRow row{.job = job, .view = context};
            const std::string line = table->line(row);
            if (is_plain(delimiter)) must_be_lines(line, 1, line);
        }
        (void)table->header();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest = fuzz::as_text(data, size);
    const std::string format(take_line(rest)), order(take_line(rest)), text(rest);
    const std::vector<model::Job> jobs = hostile_jobs(text);
    show_jobs({.format = format, .long_format = {}, .sort = order}, jobs);
    show_jobs({.format = {}, .long_format = format, .sort = order}, jobs);
    show_nodes(format, order, text);
    show_history(format, order, jobs);
    return 0;
}

}  // namespace switchyard
