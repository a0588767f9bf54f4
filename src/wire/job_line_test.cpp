// Goal: a job read as a line is the job that decode() makes of the same bytes, whatever was read
// into the same memory before. Method: one reader, many kinds of jobs, each held against the codec.
#include "wire/job_line.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "wire/codec.hpp"

namespace switchyard::wire {
namespace {

std::string bytes_of(const model::Job& job) {
    Job message;
    encode(job, &message);
    return message.SerializeAsString();
}

// As a controller sends it: without what no line shows.
model::Job waiting(std::uint32_t id) {
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = "train";
    spec->user = "alice";
    spec->uid = 2001;
    spec->partitions = {"day", "night"};
    spec->nodes_min = 2;
    spec->tasks = 8;
    spec->tasks_per_node = 4;
    spec->time_limit = model::TimeLimit{Seconds{90}, false};
    spec->gres_per_node = {{.name = "gpu", .type = "a100", .count = 2},
                           {.name = "nic", .type = ""}};
    spec->gpus_per_job = {{.name = "gpu", .type = "", .count = 8}};
    spec->begin = Instant{Seconds{1'794'707'000}};
    model::Job job;
    job.id = JobId{id};
    job.attempt = Attempt{1};
    job.restarts = 3;
    job.priority = 4'000'000'000;
    job.partition = "day";
    job.submitted = Instant{Seconds{1'794'707'040}};
    job.spec = spec;
    model::Pending pending;
    pending.reason = model::Reason::Priority;
    pending.detail = "of 7";
    pending.hold = model::Hold::Admin;
    pending.eligible_at = Instant{Seconds{5}};
    pending.planned_start = Instant{Seconds{-6}};
    pending.special_exit = true;
    job.phase = pending;
    return job;
}

void change_spec(model::Job& job, const std::function<void(model::JobSpec&)>& change) {
    auto spec = std::make_shared<model::JobSpec>(*job.spec);
    change(*spec);
    job.spec = spec;
}

TEST(JobLine, EveryKindOfJobIsReadAsTheCodecReadsIt) {
    std::vector<model::Job> jobs(9, waiting(7));
    jobs[1].phase = model::Pending{};
    change_spec(jobs[1], [](model::JobSpec& spec) { spec = {}; });
    jobs[2].array.emplace().array_id = JobId{7};
    jobs[3].phase = model::Running{};
    jobs[4].het = model::HetPlace{JobId{7}, 1, 2};
    change_spec(jobs[5], [](model::JobSpec& spec) { spec.comment = "more than a line has"; });
    change_spec(jobs[6], [](model::JobSpec& spec) { spec.required_nodes = {"n1"}; });
    change_spec(jobs[7], [](model::JobSpec& spec) {
        spec.time_limit = model::TimeLimit::infinite();
        spec.partitions = {"day"};
    });
    std::get<model::Pending>(jobs[8].phase).planned_nodes = {"n1"};
    JobLine line;
    // Each after each.
    for (const model::Job& before : jobs) {
        for (const model::Job& job : jobs) {
            ASSERT_TRUE(line.read(bytes_of(before)));
            const auto seen = line.read(bytes_of(job));
            ASSERT_TRUE(seen) << seen.error().message;
            EXPECT_EQ(**seen, job);
        }
    }
}

TEST(JobLine, WhatCannotBeReadIsRefused) {
    const std::string whole = bytes_of(waiting(7));
    JobLine line;
    EXPECT_FALSE(line.read(whole.substr(0, whole.size() - 1)));
    EXPECT_FALSE(line.read("\xff\xff"));
    EXPECT_FALSE(line.read(""));
    Job strange;
    strange.mutable_pending()->set_reason(60'000);
    EXPECT_FALSE(line.read(strange.SerializeAsString()));
    EXPECT_TRUE(line.read(whole));
}

}  // namespace
}  // namespace switchyard::wire
