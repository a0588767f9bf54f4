#include "cli/scontrol/reservation_keys.hpp"

#include <gtest/gtest.h>

#include "model/time_format.hpp"

namespace switchyard::cli {
namespace {

using model::NameListChange;
using model::ReservationFlag;
using Action = model::ReservationUpdate::Action;

const Instant kNow = from_unix_seconds(1'800'000'000);

Result<model::ReservationUpdate> parse(std::initializer_list<const char*> words,
                                       Action action = Action::Create) {
    std::vector<KeyWord> keys;
    for (const char* word : words) keys.push_back(split_key_word(word));
    return parse_reservation_change(keys, action, kNow);
}

std::string refusal(std::initializer_list<const char*> words, Action action = Action::Create) {
    const auto parsed = parse(words, action);
    return parsed ? "none" : parsed.error().message;
}

TEST(ReservationKeys, ReadsACreation) {
    const auto update =
        parse({"ReservationName=maint", "starttime=now+1hour", "duration=60", "users=root,alice",
               "nodes=n[2-3]", "flags=maint,ignore_jobs", "MaxStartDelay=5", "Comment=fans"});
    ASSERT_TRUE(update) << update.error().message;
    EXPECT_EQ(update->name, "maint");
    EXPECT_EQ(update->start, kNow + Seconds{3600});
    EXPECT_EQ(update->duration, Seconds{3600});
    EXPECT_EQ(update->nodes, (std::vector<std::string>{"n2", "n3"}));
    ASSERT_EQ(update->users.names.size(), 2u);
    EXPECT_EQ(update->users.names[1].name, "alice");
    EXPECT_EQ(update->flags.set, bit(ReservationFlag::Maint) | bit(ReservationFlag::IgnoreJobs));
    EXPECT_EQ(update->max_start_delay, Seconds{300});
    EXPECT_EQ(update->comment, "fans");
}

TEST(ReservationKeys, CountsAndLicensesComeByTresToo) {
    const auto update = parse({"start=now", "dur=unlimited", "acc=physics",
                               "tres=node=1k,license/fluent=2,license/ansys=1"});
    ASSERT_TRUE(update) << update.error().message;
    EXPECT_EQ(update->node_count, 1024u);
    EXPECT_EQ(update->licenses, "fluent:2,ansys:1");
    EXPECT_EQ(update->duration, model::kUnlimitedReservation);
}

TEST(ReservationKeys, CoresAreCountedInAllOrOfEachNode) {
    const auto with = [](const char* word) {
        return parse({"start=now", "dur=5", "users=a", "nodecnt=2", word});
    };
    EXPECT_EQ(with("CoreCnt=6")->core_count, 6u);
    EXPECT_FALSE(with("CoreCnt=6")->cores_per_node);
    EXPECT_EQ(with("TRES=node=3,cpu=8")->core_count, 8u);
    EXPECT_EQ(with("TRES=node=3,cpu=8")->node_count, 3u);
    EXPECT_EQ(with("TRESPerNode=cpu=2")->core_count, 2u);
    EXPECT_TRUE(with("TRESPerNode=cpu=2")->cores_per_node);
    EXPECT_EQ(with("CoreCnt=0")->core_count, std::nullopt);
    EXPECT_EQ(with("TRES=cpu=x").error().code, Errc::InvalidTres);
    EXPECT_EQ(with("TRES=cpu=0").error().code, Errc::InvalidTres);
    EXPECT_EQ(with("TRES=colour=1").error().code, Errc::InvalidTres);
    const auto both = parse({"start=now", "dur=5", "users=a", "tres=cpu=2", "corecnt=2"});
    EXPECT_EQ(both.error().code, Errc::InvalidCpuCount);
}

TEST(ReservationKeys, NodesAreNamedAddedAndTakenAway) {
    using Names = std::vector<std::string>;
    const auto update = [](std::initializer_list<const char*> words) {
        return *parse(words, Action::Update);
    };
    EXPECT_EQ(update({"res=r", "nodes+=n[1,3]"}).nodes_added, (Names{"n1", "n3"}));
    EXPECT_EQ(update({"res=r", "nodes-=n3"}).nodes_removed, Names{"n3"});
    const auto mixed = update({"res=r", "nodes=+n0,-n[2-3,5]"});
    EXPECT_EQ(mixed.nodes_added, Names{"n0"});
    EXPECT_EQ(mixed.nodes_removed, (Names{"n2", "n3", "n5"}));
    EXPECT_EQ(mixed.nodes, std::nullopt);
    EXPECT_EQ(update({"res=r", "nodes=n["}).nodes, Names{"n["});
}

TEST(ReservationKeys, ListsAreSetAddedToTakenFromAndDenied) {
    using Mode = NameListChange::Mode;
    const auto mode = [](const char* word) {
        return parse({"res=r", word}, Action::Update)->users.mode;
    };
    EXPECT_EQ(mode("users=a,b"), Mode::Set);
    EXPECT_EQ(mode("users+=a"), Mode::Add);
    EXPECT_EQ(mode("users-=a"), Mode::Remove);
    EXPECT_EQ(mode("users=-a,-b"), Mode::Deny);
    EXPECT_EQ(parse({"res=r", "flags-=daily"}, Action::Update)->flags.cleared,
              bit(ReservationFlag::Daily));
}

TEST(ReservationKeys, WhoMayUseItIsSaidByPartitionAndQosToo) {
    using Mode = NameListChange::Mode;
    const auto made = parse(
        {"start=now", "dur=5", "nodecnt=1", "allowedpart=debug,low", "q=-normal", "corecnt=four"},
        Action::Create);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->allowed_partitions.mode, Mode::Set);
    EXPECT_EQ(made->allowed_partitions.names.size(), 2u);
    EXPECT_EQ(made->qos.mode, Mode::Deny);
    EXPECT_EQ(made->qos.names.front().name, "normal");
    EXPECT_EQ(made->core_count, std::nullopt);
    EXPECT_EQ(parse({"res=r", "AllowedPartitions-=low"}, Action::Update)->allowed_partitions.mode,
              Mode::Remove);
    EXPECT_EQ(refusal({"start=now", "dur=5", "users=a", "nodes=n1", "flags=force_start"}),
              "FORCE_START flag requires a reoccuring reservation. No reservation created.");
    EXPECT_TRUE(parse({"start=now", "dur=5", "users=a", "nodes=n1", "flags=force_start,daily"},
                      Action::Create));
}

TEST(ReservationKeys, SaysWhatIsMissingInSlurmsWords) {
    EXPECT_EQ(refusal({"res=r"}), "A start time must be given.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "start=now"}),
              "An end time or duration must be given.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "end=now+6minutes", "users=a", "nodes=n1"}),
              "StartTime + Duration does not equal EndTime.  No reservation created.");
    EXPECT_EQ(refusal({"start=now+2hours", "end=now+1hour", "users=a", "nodes=n1"}),
              "Start time cannot be after end time.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "users=a"}),
              "CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "users=a", "nodecnt=0", "nodes="}),
              "CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "nodes=n1"}),
              "Either Users/Groups, AllowedPartitions, QOS and/or Accounts must be specified.  No "
              "reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "nodes=n1", "users=a", "groups=b"}),
              "Users and Groups are mutually exclusive.  You can have one or the other, but not "
              "both.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "nodes=n1", "users=a", "flags=part_nodes"}),
              "PART_NODES flag requires specifying a Partition and ALL nodes.  No reservation "
              "created.");
    EXPECT_EQ(refusal({"dur=5"}, Action::Update),
              "Reservation must be given.  No reservation update.");
}

TEST(ReservationKeys, RefusesByNameWhatItDoesNotDo) {
    EXPECT_EQ(refusal({"res=r", "corecnt=2,4"}),
              "Using a comma separated array for CoreCnt is no longer valid.");
    EXPECT_EQ(refusal({"res=r", "nodecnt=x"}), "\"x\" is not a valid node count");
    EXPECT_EQ(refusal({"res=r", "tres=cpu=4", "trespernode=cpu=2"}),
              "Parameter trespernode=cpu=2 specified more than once");
    EXPECT_EQ(refusal({"res=r", "tres=mem=4"}),
              "TRES type 'mem' not supported with reservations.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "flags=first_cores"}),
              "Error parsing flags first_cores.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "colour=red"}),
              "Unknown parameter colour=red.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "start=never"}),
              "Invalid start time start=never.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "dur=long"}, Action::Update),
              "Invalid duration dur=long.  No reservation update.");
    EXPECT_EQ(refusal({"res=r", "comment+=x"}, Action::Update),
              "Unknown parameter comment+=x.  No reservation update.");
}

}  // namespace
}  // namespace switchyard::cli
