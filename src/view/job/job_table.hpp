// job_table.hpp: what squeue prints: a header and the lines of jobs (or steps) in their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "view/job/job_columns.hpp"
#include "view/job/job_order.hpp"
#include "view/step/step_columns.hpp"
#include "view/table/sorted_lines.hpp"

namespace switchyard::view {

// What decides the shape of the table; the command line and the environment filled it in.
struct TableRequest {
    std::string format;       // Letters; "%all" for all of them.
    std::string long_format;  // Names; used when `format` is empty.
    std::string sort;         // Empty: the default.
};

class JobTable {
  public:
    static Result<JobTable> make(const TableRequest& request);

    const std::vector<std::string>& unknown_fields() const { return table_.unknown(); }
    std::string header() const { return table_.header(); }
    // Whether a line is all that has to be known of a job (client::JobsQuery::brief).
    bool is_brief() const {
        return table_.has_only(kBriefLetters) && order_.has_only(kBriefLetters);
    }
    // One line, or one for each element (each_element) and each partition (each_partition).
    struct Split {
        bool each_element = false;
        bool each_partition = false;
    };
    void add(SortedLines& lines, const model::Job& job, const ViewContext& view,
             const Split& split) const;

  private:
    void add_line(SortedLines& lines, const JobRow& row) const;
    void add_elements(SortedLines& lines, const model::Job& job, const ViewContext& view,
                      const Split& split, const std::string* partition) const;
    FieldTable<JobRow> table_;
    SortOrder order_;
};

class StepTable {
  public:
    static Result<StepTable> make(const TableRequest& request);

    const std::vector<std::string>& unknown_fields() const { return table_.unknown(); }
    std::string header() const { return table_.header(); }
    void add(SortedLines& lines, const StepRow& row) const;

  private:
    FieldTable<StepRow> table_;
    SortOrder order_;
};

}  // namespace switchyard::view
