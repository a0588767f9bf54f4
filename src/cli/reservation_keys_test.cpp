#include "cli/reservation_keys.hpp"

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

TEST(ReservationKeys, SaysWhatIsMissingInSlurmsWords) {
    EXPECT_EQ(refusal({"res=r"}), "A start time must be given.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "start=now"}),
              "An end time or duration must be given.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "end=now+6minutes", "users=a", "nodes=n1"}),
              "StartTime + Duration does not equal EndTime.  No reservation created.");
    EXPECT_EQ(refusal({"start=now+2hours", "end=now+1hour", "users=a", "nodes=n1"}),
              "Start time cannot be after end time.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "users=a"}),
              "Nodes, NodeCnt or Licenses must be specified.  No reservation created.");
    EXPECT_EQ(refusal({"start=now", "dur=5", "nodes=n1"}),
              "Either Users/Groups and/or Accounts must be specified.  No reservation created.");
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
    EXPECT_EQ(refusal({"res=r", "corecnt=4"}),
              "corecnt is not supported: reservations are of whole nodes.  No reservation "
              "created.");
    EXPECT_EQ(refusal({"res=r", "tres=cpu=4"}),
              "TRES=cpu is not supported: reservations are of whole nodes.  No reservation "
              "created.");
    EXPECT_EQ(refusal({"res=r", "tres=mem=4"}),
              "TRES type 'mem' not supported with reservations.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "flags=first_cores"}),
              "Error parsing flags first_cores.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "colour=red"}),
              "Unknown parameter colour=red.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "start=never"}),
              "Invalid start time never.  No reservation created.");
    EXPECT_EQ(refusal({"res=r", "dur=long"}, Action::Update),
              "Invalid duration long.  No reservation update.");
    EXPECT_EQ(refusal({"res=r", "comment+=x"}, Action::Update),
              "Unknown parameter comment+=x.  No reservation update.");
}

}  // namespace
}  // namespace switchyard::cli
