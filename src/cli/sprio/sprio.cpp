// sprio.cpp: the priorities of jobs that wait.
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdio>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/field_help.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "model/sluid.hpp"
#include "view/job/job_facts.hpp"
#include "view/job/priority_columns.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sprio";

struct Typed {
    std::optional<std::string> jobs, users, partitions, format, sort;
    std::string clusters;
    bool header = true, long_list = false, normal = false, weights = false, job_flag = false;
    int verbose = 0;
};
Taken take_jobs(Typed& typed, const OptionUse& use) {
    typed.job_flag = true;
    if (use.has_value) typed.jobs = std::string(use.value);
    return std::nullopt;
}

using Row = view::PriorityRow;
using Field = view::Field<Row>;

std::string letter_list() { return in_eight_columns(view::kPriorityHelpLetters); }

const Option<Typed> kOptions[] = {
    {{.name = "federation", .variables = "SPRIO_FEDERATION"}, nothing<Typed>},
    {{"noheader", 'h', Argument::None, "", "no headings"}, flag<&Typed::header, false>},
    {{"jobs", 'j', Argument::Optional, "IDS", "only these jobs"}, take_jobs},
    {{.name = "local", .variables = "SPRIO_LOCAL"}, nothing<Typed>},
    {{"long", 'l', Argument::None, "", "more columns"}, flag<&Typed::long_list>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Typed::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"norm", 'n', Argument::None, "", "priorities between 0 and 1"}, flag<&Typed::normal>},
    {{"format", 'o', Argument::Required, "FORMAT", "columns by letter: %[[.]width]letter[text]",
      "SPRIO_FORMAT", "long norm"},
     keep<&Typed::format>},
    {{"partition", 'p', Argument::Required, "NAMES", "only jobs that wait for these partitions"},
     keep<&Typed::partitions>},
    {{.name = "sibling", .variables = "SPRIO_SIBLING"}, nothing<Typed>},
    {{"sort", 'S', Argument::Required, "LETTERS", "order, such as -Y (- for descending)"},
     keep<&Typed::sort>},
    {{"user", 'u', Argument::Required, "NAMES", "only jobs of these users"}, keep<&Typed::users>},
    {{"verbose", 'v', Argument::None, "", "say how priorities are made"}, count<&Typed::verbose>},
    {{"weights", 'w', Argument::None, "", "the weights of the factors"}, flag<&Typed::weights>},
    {{.name = "helpformat", .help = "the letters -o knows", .answer = letter_list}},
};
constexpr CommandText kText{.program = kProgram,
                            .operands = {},
                            .purpose = "The priorities of jobs that wait.",
                            .footer = {},
                            .help_letter = 0,
                            .takes_words = true};

std::string_view format_of(const Typed& typed) {
    if (typed.format) return *typed.format;
    if (typed.long_list) return typed.normal ? view::kPriorityLongNormal : view::kPriorityLong;
    if (typed.users)
        return typed.normal ? view::kPriorityNormalOfUsers : view::kPriorityFormatOfUsers;
    return typed.normal ? view::kPriorityNormal : view::kPriorityFormat;
}

// What rows are ordered by: a number or a text, up or down.
struct OrderPart {
    const Field* field;
    bool down;
    std::strong_ordering compare(const Row& a, const Row& b) const {
        const auto key = [&](const Row& row) {
            const std::string text = field->text(row);
            const auto number = parse_uint(text);
            return std::pair(number.value_or(0), number ? std::string() : text);
        };
        return down ? key(b) <=> key(a) : key(a) <=> key(b);
    }
};

// Letters that are none have no effect.
void sort_rows(std::vector<Row>& rows, const std::string& order) {
    std::vector<OrderPart> parts;
    for (std::string_view letter : split(order, ',')) {
        letter = trim(letter);
        const bool down = letter.starts_with('-');
        if (down || letter.starts_with('+')) letter.remove_prefix(1);
        const std::span<const Field> fields = view::priority_fields();
        const auto field = std::ranges::find_if(fields, [&](const Field& each) {
            return letter.size() == 1 && each.letter == letter[0];
        });
        if (field != fields.end()) parts.push_back({.field = &*field, .down = down});
    }
    std::ranges::sort(rows, [&](const Row& a, const Row& b) {
        for (const OrderPart& part : parts) {
            if (const auto order_of = part.compare(a, b); order_of != 0) return order_of < 0;
        }
        return false;
    });
}

Result<client::JobsQuery> to_query(const Typed& typed) {
    client::JobsQuery query;
    query.filter.states = {model::JobState::Pending};
    query.hidden_partitions = true;
    if (typed.jobs) {
        auto ids = parse_job_list(*typed.jobs);
        if (!ids) return fail(Errc::InvalidArgument, "Invalid job id: " + ids.error().message);
        query.filter.jobs = *std::move(ids);
    }
    for (const std::string& name : split_list(typed.users.value_or(""))) {
        const auto uid = find_uid(name);
        if (uid) {
            query.filter.uids.push_back(*uid);
        } else {
            say_error(kProgram, fmt::format("Invalid user: {}\n", name));
        }
    }
    query.filter.partitions = split_list(typed.partitions.value_or(""));
    return query;
}

// One that is held, or must wait for another job or a moment, has no place in the order yet.
bool competes(const model::Job& job, Instant now) {
    const auto eligible = view::eligible_time(job);
    return job.priority > 0 && eligible && *eligible <= now;
}

int run(const Typed& typed) {
    const auto table = view::FieldTable<Row>::by_letter(
        view::priority_fields(), view::parse_letter_format(format_of(typed)));
    for (const std::string& letter : table.unknown())
        say_error(kProgram, fmt::format("Invalid job format specification: {}", letter));
    const auto query = to_query(typed);
    if (!query) return refuse(kProgram, query.error().message);
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Couldn't get priority factors from controller", session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, typed.clusters, session->config)) return 1;
    // Of users that are none, no jobs.
    const bool nobody = typed.users && query->filter.uids.empty();
    const auto found = nobody ? Result<client::JobsChunk>(client::JobsChunk{})
                              : client::fetch_jobs(session->connection, *query);
    if (!found) {
        say_call_failed(kProgram, "Couldn't get priority factors from controller", found.error());
        return 1;
    }
    std::vector<Row> rows;
    const std::string& name = session->config.cluster_name;
    const std::string cluster = typed.clusters.empty() ? std::string() : name;
    if (typed.weights)
        rows.push_back({.job = nullptr, .partition = "", .cluster = cluster, .sluid = ""});
    for (const model::Job& job : found->jobs) {
        if (typed.weights) break;
        if (!competes(job, found->now)) continue;
        for (const std::string& partition : job.spec->partitions)
            rows.push_back({.job = &job,
                            .partition = partition,
                            .cluster = cluster,
                            .sluid = model::sluid_of(job, name)});
    }
    sort_rows(rows, typed.sort.value_or("i"));
    if (typed.verbose > 0) {
        say(kProgram, "priorities have no factors: partition tier and submission order jobs");
    }
    if (rows.empty() && typed.jobs) {
        print("Unable to find jobs matching user/id(s) specified\n");
        return 0;
    }
    std::string text = typed.header ? table.header() : std::string();
    for (const Row& row : rows) table.append_row(text, row);
    print(text);
    std::fflush(stdout);
    return 0;
}

}  // namespace

int sprio_main(int argc, char** argv) {
    Typed typed;
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    // "-j 42": the ids may stand apart from the letter.
    std::size_t next = 0;
    if (!line.words.empty() && typed.job_flag && !typed.jobs) typed.jobs = line.words[next++];
    if (next < line.words.size()) return refuse_word(kText, lines_of(kOptions), line.words[next]);
    return run(typed);
}

}  // namespace switchyard::cli
