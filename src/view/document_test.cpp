// Goal: the layout of documents, to the character, as programs and people know it. Method: a small
// tree in, text out.
#include "view/document.hpp"

#include <gtest/gtest.h>

#include "view/job/job_document.hpp"
#include "view/node/node_document.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

std::string write(DocumentKind kind, const std::function<void(Document&)>& fill,
                  YamlLayout layout = {}) {
    std::string out;
    Document document(kind, [&](std::string_view text) { out += text; }, layout);
    fill(document);
    document.finish();
    return out;
}

void fill(Document& document) {
    document.begin_list("jobs");
    document.begin_map();
    document.text("name", "a/b \"c\"\n");
    document.text("empty", "");
    document.number("limit", Number::of(30));
    document.number("tasks", Number::unlimited());
    document.real("load", 1);
    document.null("resources");
    document.texts("flags", {"ONE", "TWO"});
    document.texts("none", {});
    document.end();
    document.end();
    document.boolean("done", true);
}

TEST(Document, JsonIsIndentedByTwo) {
    EXPECT_EQ(write(DocumentKind::Json, fill), R"({
  "jobs": [
    {
      "name": "a\/b \"c\"\n",
      "empty": "",
      "limit": {
        "set": true,
        "infinite": false,
        "number": 30
      },
      "tasks": {
        "set": false,
        "infinite": true,
        "number": 0
      },
      "load": 1.0,
      "resources": null,
      "flags": [
        "ONE",
        "TWO"
      ],
      "none": [
      ]
    }
  ],
  "done": true
}
)");
}

TEST(Document, CompactJsonIsOneLine) {
    EXPECT_EQ(
        write(DocumentKind::CompactJson,
              [](Document& document) {
                  document.texts("a", {"x", "y"});
                  document.number("b", Number::of(3));
                  document.texts("c", {});
              }),
        "{\"a\":[\"x\",\"y\"],\"b\":{\"set\":true,\"infinite\":false,\"number\":3},\"c\":[]}\n");
}

TEST(Document, YamlNamesTheKindOfEveryValue) {
    EXPECT_EQ(write(DocumentKind::Yaml, fill), R"(%YAML 1.1
--- !!map
!!str jobs: !!seq
- !!map
  !!str name: !!str "a\/b \"c\"\n"
  !!str empty: !!str
  !!str limit: !!map
    !!str set: !!bool true
    !!str infinite: !!bool false
    !!str number: !!int 30
  !!str tasks: !!map
    !!str set: !!bool false
    !!str infinite: !!bool true
    !!str number: !!int 0
  !!str load: !!float 1.000000
  !!str resources: !!null null
  !!str flags: !!seq
  - !!str ONE
  - !!str TWO
  !!str none: !!seq []
!!str done: !!bool true
...

)");
}

TEST(Document, YamlCanBeWrittenWithoutTags) {
    EXPECT_EQ(write(DocumentKind::Yaml, fill, {.tags = false}), R"(%YAML 1.1
---
jobs:
- name: "a\/b \"c\"\n"
  empty:
  limit:
    set: true
    infinite: false
    number: 30
  tasks:
    set: false
    infinite: true
    number: 0
  load: 1.000000
  resources: null
  flags:
  - ONE
  - TWO
  none: []
done: true
...

)");
}

TEST(Document, LongTextsOfYamlAreFoldedUnlessItIsCompact) {
    const std::string words =
        "sbatch -N1 -n2 -J first -t 60 --mem=100 --wrap srun -n2 --mem=50 "
        "sleep 1000 & srun -n1 true; wait";
    const auto line = [&](Document& document) { document.text("submit_line", words); };
    EXPECT_TRUE(write(DocumentKind::Yaml, line).contains("srun -n2 --mem=50\n  sleep 1000"));
    EXPECT_TRUE(write(DocumentKind::Yaml, line, {.folds = false}).contains(words + "\n...\n"));
}

std::string yaml_of(const std::string& text) {
    const std::string whole =
        write(DocumentKind::Yaml, [&](Document& document) { document.text("t", text); });
    const std::string start = "%YAML 1.1\n--- !!map\n!!str t: !!str ";
    return whole.substr(start.size(),
                        whole.size() - start.size() - std::string("\n...\n\n").size());
}

TEST(Document, YamlQuotesOnlyWhatWouldBeMisread) {
    EXPECT_EQ(yaml_of("--yaml"), "--yaml");
    EXPECT_EQ(yaml_of("slurm-%j.out"), "slurm-%j.out");
    EXPECT_EQ(yaml_of("n[1-2]"), "n[1-2]");
    EXPECT_EQ(yaml_of("[x]"), "'[x]'");
    EXPECT_EQ(yaml_of("it's: so"), "'it''s: so'");
    EXPECT_EQ(yaml_of("a #b"), "'a #b'");
    EXPECT_EQ(yaml_of("- a"), "'- a'");
    EXPECT_EQ(yaml_of(" a"), "' a'");
    EXPECT_EQ(yaml_of("---"), "'---'");
}

TEST(Document, YamlFoldsLongTextsBetweenWords) {
    const std::string long_word(65, 'x');
    EXPECT_EQ(yaml_of(long_word + " a b"), long_word + " a\n  b");
}

TEST(JobDocument, HasTheKeysThatProgramsRead) {
    const std::string text = write(DocumentKind::Json, [](Document& document) {
        document.begin_list("jobs");
        model::JobSpec spec = samples::spec("train");
        spec.command = "/home/job.sh";
        spec.work_dir = "/home";
        write_job(document, samples::job(7, spec, samples::pending(model::Reason::Resources)),
                  {.now = {}, .cluster = "c", .nodes = {}, .steps = {}});
        document.end();
    });
    for (const char* key :
         {"\"job_id\": 7,", "\"name\": \"train\"", "\"command\": \"\\/home\\/job.sh\"",
          "\"current_working_directory\": \"\\/home\"", "\"job_resources\": null",
          "\"state_reason\": \"Resources\"", "\"job_state\": [\n        \"PENDING\"\n      ]",
          "\"scheduled_nodes\": \"\"", "\"het_job_id\": {"}) {
        EXPECT_NE(text.find(key), std::string::npos) << key << " in " << text;
    }
}

TEST(NodeDocument, GathersLikeNodesOfAPartition) {
    const auto nodes = samples::nodes();
    const auto partitions = samples::partitions();
    std::vector<PartitionTotals> totals;
    for (const auto& partition : partitions) totals.push_back(totals_of(partition, nodes));
    const std::string text = write(DocumentKind::Json, [&](Document& document) {
        write_node_groups(document, partitions, totals, nodes);
    });
    EXPECT_NE(text.find("\"sinfo\": ["), std::string::npos);
    EXPECT_NE(text.find("\"nodes\": [\n          \"n4\"\n        ]"), std::string::npos) << text;
}

}  // namespace
}  // namespace switchyard::view
