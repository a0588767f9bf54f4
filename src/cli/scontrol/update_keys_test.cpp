// Goal: the words of scontrol update become the change they mean, and bad ones Slurm's sentences.
// Method: words in, typed values or messages out.
#include "cli/scontrol/update_keys.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace switchyard::cli {
namespace {

using Action = model::PartitionUpdate::Action;

std::vector<KeyWord> words(std::string_view line) {
    std::vector<KeyWord> made;
    for (const std::string_view word : split(line, ' ')) made.push_back(split_key_word(word));
    return made;
}

Result<JobChange> job(std::string_view line) {
    return parse_job_change(words(line), from_unix_seconds(1794707040));
}

TEST(UpdateKeys, AWordSplitsAtItsFirstEqualsSign) {
    const KeyWord word = split_key_word("Comment=a=b");
    EXPECT_EQ(word.key, "Comment");
    EXPECT_EQ(word.value, "a=b");
    const KeyWord more = split_key_word("TimeLimit+=30");
    EXPECT_EQ(more.key, "TimeLimit");
    EXPECT_EQ(more.sign, '+');
    EXPECT_FALSE(split_key_word("Nice").value);
}

TEST(UpdateKeys, AJobIsNamedByIdsOrByItsName) {
    const auto by_id = job("jobid=12,13_[1,2] name=new");
    ASSERT_TRUE(by_id);
    EXPECT_EQ(by_id->ids, (std::vector<std::string>{"12", "13_[1,2]"}));
    EXPECT_EQ(by_id->update.name, "new");
    EXPECT_FALSE(by_id->name);
    const auto by_name = job("JobName=train UserId=alice Priority=5");
    ASSERT_TRUE(by_name);
    EXPECT_EQ(by_name->name, "train");
    EXPECT_EQ(by_name->user, "alice");
    EXPECT_FALSE(by_name->update.name);
    EXPECT_EQ(by_name->update.priority, 5u);
}

TEST(UpdateKeys, TimeLimitsAreSetAddedAndTakenAway) {
    using Mode = model::TimeLimitChange::Mode;
    EXPECT_EQ(job("jobid=1 timelimit=50")->update.time_limit->limit.seconds, Minutes{50});
    EXPECT_EQ(job("jobid=1 timelimit=50")->update.time_limit->mode, Mode::Set);
    EXPECT_EQ(job("jobid=1 timelimit+=50")->update.time_limit->mode, Mode::Add);
    EXPECT_EQ(job("jobid=1 timelimit=+1:00:00")->update.time_limit->mode, Mode::Add);
    EXPECT_EQ(job("jobid=1 timelimit-=5")->update.time_limit->mode, Mode::Subtract);
    EXPECT_TRUE(job("jobid=1 timelimit=UNLIMITED")->update.time_limit->limit.unlimited);
}

TEST(UpdateKeys, EveryKindOfValueIsRead) {
    const auto change =
        job("JobId=1 Account=a AdminComment=b Comment=c Contiguous=yes CPUsPerTask=2 "
            "Dependency=afterok:9 ExcNodeList=n[1-2] Features=gpu Gres=gpu:2 MailType=END "
            "MinMemoryNode=2G Nice=-5 NumNodes=2-4 NumTasks=8 OverSubscribe=no Partition=a,b QOS=q "
            "ReqNodeList=n3 Requeue=0 StdOut=o WCKey=w WorkDir=/tmp ArrayTaskThrottle=3 "
            "StartTime=2026-11-16 TasksPerNode=4 MinCPUsNode=6");
    ASSERT_TRUE(change) << change.error().message;
    const model::JobUpdate& update = change->update;
    EXPECT_EQ(update.account, "a");
    EXPECT_EQ(update.contiguous, true);
    EXPECT_EQ(update.cpus_per_task, 2u);
    EXPECT_EQ(update.dependency->terms.size(), 1u);
    EXPECT_EQ(update.excluded_nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(update.gres_per_node->front().count, 2u);
    EXPECT_EQ(update.memory, (model::MemoryRequest{model::MemoryRequest::Per::Node, {2048}}));
    EXPECT_EQ(update.nice, -5);
    EXPECT_EQ(update.nodes_min, 2u);
    EXPECT_EQ(update.nodes_max, 4u);
    EXPECT_EQ(update.tasks, 8u);
    EXPECT_EQ(update.oversubscribe, false);
    EXPECT_EQ(update.partitions, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(update.requeue, false);
    EXPECT_EQ(update.array_throttle, 3u);
    EXPECT_TRUE(update.begin);
    EXPECT_EQ(update.cpus_min, 6u);
    EXPECT_EQ(job("jobid=1 Nice")->update.nice, 100);
    EXPECT_TRUE(job("jobid=1 Dependency=")->update.dependency->empty());
}

TEST(UpdateKeys, SizesAndTimesOfJobsAreRead) {
    const auto change =
        job("JobId=1 TimeMin=5 NumCPUs=2-4 CoreSpec=-1 MinTmpDiskNode=10 Prefer=a ReqCores=2 "
            "ReqSockets=1 ReqThreads=3 NodeList=n[1-2] MCSLabel=m EndTime=2026-11-16T12:00:00");
    ASSERT_TRUE(change) << change.error().message;
    const model::JobUpdate& update = change->update;
    EXPECT_EQ(update.time_min->seconds, Minutes{5});
    EXPECT_EQ(update.cpus, 2u);
    EXPECT_EQ(update.cpus_max, 4u);
    EXPECT_EQ(update.core_spec, -1);
    EXPECT_EQ(update.tmp_disk->value, 10u);
    EXPECT_EQ(update.prefer, "a");
    EXPECT_EQ(update.cores_per_socket, 2u);
    EXPECT_EQ(update.sockets_per_node, 1u);
    EXPECT_EQ(update.threads_per_core, 3u);
    EXPECT_EQ(update.required_nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(update.mcs_label, "m");
    EXPECT_TRUE(update.end);
}

TEST(UpdateKeys, BadSizesAndTimesOfJobsAreRefusedInSlurmsWords) {
    const auto said = [](std::string_view word) {
        return job("jobid=1 " + std::string(word)).error().message;
    };
    EXPECT_EQ(said("TimeMin=xx"), "scontrol: error: Invalid TimeMin value");
    EXPECT_EQ(said("NumCPUs=4-2"), "scontrol: error: Invalid NumCPUs value: 4-2");
    EXPECT_EQ(said("NumCPUs=0"), "scontrol: error: Invalid NumCPUs value: 0");
    EXPECT_EQ(said("NumCPUs=x"),
              "scontrol: error: Invalid numeric value \"x\" for NumCPUs.\n"
              "scontrol: error: Invalid NumCPUs value: x");
    EXPECT_EQ(said("CoreSpec=x"), "scontrol: error: Invalid CoreSpec value: x");
    EXPECT_EQ(said("MinTmpDiskNode=5G"), "scontrol: error: Invalid MinTmpDiskNode value: 5G");
    EXPECT_EQ(said("EndTime=xx"), "Invalid time specification (pos=0): xx");
    EXPECT_EQ(said("Switches=1@5"),
              "Switches=1@5: there is no topology of switches\nRequest aborted");
    EXPECT_EQ(job("jobid=1 BurstBuffer=x").error().code, Errc::Unsupported);
}

TEST(UpdateKeys, KeysMayBeShortenedWhileTheyAreUnique) {
    EXPECT_TRUE(job("jobid=1 timel=5"));
    EXPECT_FALSE(job("jobid=1 min=5"));
    EXPECT_FALSE(job("jobid=1 ti=5"));
}

TEST(UpdateKeys, WhatMeansNothingIsNamed) {
    EXPECT_EQ(job("jobid=1 colour=red").error().message,
              "Update of this parameter is not supported: colour=red\nRequest aborted");
    EXPECT_EQ(job("jobid=1 priority+=5").error().message,
              "Update of this parameter is not supported: priority+=5\nRequest aborted");
    EXPECT_EQ(job("jobid=1 priority=high").error().message,
              "scontrol: error: Invalid Priority value: high");
    EXPECT_EQ(job("jobid=1 numnodes=4-2").error().message,
              "scontrol: error: Maximum node count 2 is less than minimum node count 4");
    EXPECT_EQ(job("jobid=1 numnodes=few").error().message,
              "scontrol: error: \"few\" is not a valid node count");
    EXPECT_EQ(job("jobid=1 timel=soon").error().message,
              "scontrol: error: Invalid TimeLimit value");
    EXPECT_EQ(job("jobid=1 starttime=soon").error().message,
              "Invalid time specification (pos=0): soon\nNo changes specified");
    EXPECT_EQ(job("jobid=1 mailtype=often").error().message, "Invalid MailType: often");
    EXPECT_EQ(parse_node_change(words("nodename=n1 weight=heavy")).error().message,
              "scontrol: error: Invalid value weight=heavy for Weight");
}

TEST(UpdateKeys, AnUpdateThatChangesNothingIsRefused) {
    EXPECT_EQ(job("jobid=1").error().message, "No changes specified");
    EXPECT_EQ(job("jobname=x").error().message, "No changes specified");
    EXPECT_TRUE(job("jobid=1 jobname=x"));
    EXPECT_TRUE(job("jobid=1 comment="));
    EXPECT_EQ(parse_node_change(words("nodename=n1")).error().message, "No changes specified");
    EXPECT_EQ(parse_partition_change(words("partitionname=a"), Action::Update).error().message,
              "scontrol: error: No changes specified");
    EXPECT_TRUE(parse_partition_change(words("partitionname=a"), Action::Delete));
}

TEST(UpdateKeys, ThePartitionsChoicesAreTold) {
    const auto said = [](std::string_view word) {
        return parse_partition_change(words("partitionname=a " + std::string(word)), Action::Update)
            .error()
            .message;
    };
    EXPECT_EQ(said("default=maybe"),
              "scontrol: error: Invalid input: default=maybe\nscontrol: error: Acceptable Default "
              "values are YES and NO");
    EXPECT_EQ(said("state=asleep"),
              "scontrol: error: Invalid input: state=asleep\nscontrol: error: Acceptable State "
              "values are UP, DOWN, DRAIN and INACTIVE");
    EXPECT_EQ(said("maxtime=long"), "scontrol: error: Invalid input maxtime=long");
    EXPECT_EQ(said("maxnodes=all"), "scontrol: error: Invalid numeric value \"all\" for MaxNodes.");
}

TEST(UpdateKeys, ANodeIsNotTakenAwayWithoutAReason) {
    EXPECT_EQ(parse_node_change(words("nodename=n4 state=drain")).error().message,
              "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    const auto drained = parse_node_change(words("nodename=n[1-2] state=drain reason=disk"));
    ASSERT_TRUE(drained);
    EXPECT_EQ(drained->nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(drained->verb, model::NodeVerb::Drain);
    EXPECT_EQ(drained->reason, "disk");
    EXPECT_EQ(parse_node_change(words("nodename=n1 state=RESUME"))->verb, model::NodeVerb::Resume);
    EXPECT_FALSE(parse_node_change(words("nodename=n1 state=asleep")));
}

TEST(UpdateKeys, ANodeIsDescribedAndComesBackWhenItIsTold) {
    const auto change = parse_node_change(
        words("nodename=n[1-2] instanceid=i-[1-2] instancetype=t nodeaddr=a[1-2] nodehostname=h "
              "state=down reason=disk resumeafter=60"));
    ASSERT_TRUE(change) << change.error().message;
    EXPECT_EQ(change->instance_ids, (std::vector<std::string>{"i-1", "i-2"}));
    EXPECT_EQ(change->instance_types, std::vector<std::string>{"t"});
    EXPECT_EQ(change->addresses, (std::vector<std::string>{"a1", "a2"}));
    EXPECT_EQ(change->host_names, std::vector<std::string>{"h"});
    EXPECT_EQ(change->resume_after, Seconds{60});
    EXPECT_EQ(parse_node_change(words("nodename=n1 resumeafter=5")).error().message,
              "You can only specify a resume time when DOWNING or DRAINING a node. Request denied");
    EXPECT_EQ(parse_node_change(words("nodename=n1 resumeafter=x")).error().message,
              "scontrol: error: Invalid value resumeafter=x for ResumeAfter");
    EXPECT_EQ(parse_node_change(words("nodename=n1 cpubind=core")).error().message,
              "cpubind=core: tasks are bound as their step asks; nodes have no mode of their own\n"
              "Request aborted");
}

TEST(UpdateKeys, TheRulesOfAPartitionAreRead) {
    const auto change = parse_partition_change(
        words("partitionname=a allocnodes=n1,n2 allowqos=ALL denyqos=x denyaccounts=b qos=q "
              "alternate=c defmempercpu=100 maxmempernode=0 disablerootjobs=yes exclusive=user "
              "lln=yes maxcpuspernode=UNLIMITED overtimelimit=5 reqresv=yes"),
        Action::Update);
    ASSERT_TRUE(change) << change.error().message;
    EXPECT_EQ(change->alloc_nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_TRUE(change->allow_qos->empty());
    EXPECT_EQ(change->deny_qos, std::vector<std::string>{"x"});
    EXPECT_EQ(change->deny_accounts, std::vector<std::string>{"b"});
    EXPECT_EQ(change->qos, "q");
    EXPECT_EQ(change->alternate, "c");
    EXPECT_EQ(change->def_mem_per_cpu->value, 100u);
    EXPECT_EQ(change->max_mem_per_node->value, 0u);
    EXPECT_EQ(change->disable_root_jobs, true);
    EXPECT_EQ(change->exclusive_user, true);
    EXPECT_EQ(change->lln, true);
    EXPECT_EQ(change->max_cpus_per_node, model::PartitionUpdate::kNone);
    EXPECT_EQ(change->over_time_limit, 5u);
    EXPECT_EQ(change->require_reservation, true);
    const auto said = [](std::string_view word) {
        return parse_partition_change(words("partitionname=a " + std::string(word)), Action::Update)
            .error()
            .message;
    };
    EXPECT_EQ(said("defmempercpu=5G"), "scontrol: error: Invalid DefMemPerCPU value: 5G");
    EXPECT_EQ(said("exclusive=xx"),
              "scontrol: error: Invalid input: exclusive=xx\nscontrol: error: Acceptable "
              "Exclusive values are NO, NODE, USER, TOPO");
    EXPECT_EQ(said("colour=red"),
              "scontrol: error: Update of this parameter is not supported: colour=red\n\n"
              "scontrol: error: Request aborted");
}

TEST(UpdateKeys, APartitionIsMadeAndChanged) {
    const auto made =
        parse_partition_change(words("partitionname=tmp nodes=n[1-2] default=no"), Action::Create);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->name, "tmp");
    EXPECT_EQ(made->action, Action::Create);
    EXPECT_EQ(made->nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(made->is_default, false);
    const auto changed = parse_partition_change(
        words("partitionname=debug state=down maxtime=1-0 maxnodes=UNLIMITED allowgroups=ALL "
              "defaulttime=NONE oversubscribe=FORCE:4"),
        Action::Update);
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->state, model::PartitionState::Down);
    EXPECT_EQ(changed->max_time->seconds, std::chrono::days{1});
    EXPECT_TRUE(changed->max_nodes.has_value());
    EXPECT_FALSE(changed->max_nodes->has_value());
    EXPECT_TRUE(changed->allow_groups->empty());
    EXPECT_FALSE(changed->default_time->has_value());
    EXPECT_EQ(changed->over_subscribe, model::Partition::OverSubscribe::Force);
    EXPECT_FALSE(parse_partition_change(words("state=down"), Action::Update));
}

}  // namespace
}  // namespace switchyard::cli
