// job_order.hpp: the orders squeue can list jobs and steps in (--sort).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "view/job/job_columns.hpp"
#include "view/step/step_columns.hpp"
#include "view/table/order_key.hpp"

namespace switchyard::view {

inline constexpr std::string_view kJobSort = "P,t,-p";
inline constexpr std::string_view kStepSort = "P,i";
// Cards: Slurm says that they give no order, and lists all the same.
inline constexpr char kLetterWithoutEffect = 'b';

// "P,t,-p": letters of the fields, '-' for descending. Whatever is left equal is listed by start,
// the latest first, then by id.
class SortOrder {
  public:
    // Errc::InvalidArgument names the letter that nothing can be sorted by.
    static Result<SortOrder> parse_for_jobs(std::string_view text);
    static Result<SortOrder> parse_for_steps(std::string_view text);

    void add_key(OrderKey& key, const JobRow& row) const;
    void add_key(OrderKey& key, const StepRow& row) const;
    // Whether it looks at these fields only.
    bool has_only(std::string_view letters) const;

  private:
    struct Term {
        char letter;
        bool descending;
    };
    enum class OtherLetters { Refuse, Skip };
    static Result<SortOrder> parse(std::string_view text, std::string_view letters,
                                   OtherLetters others);

    std::vector<Term> terms_;
};

}  // namespace switchyard::view
