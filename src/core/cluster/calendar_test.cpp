// calendar_test.cpp: what reservations cost those whom they do not concern. (What they do is told
// in scenarios/reservations.txt.)
#include <gtest/gtest.h>

#include <map>

#include "core/cluster/cluster.hpp"

namespace switchyard::core {
namespace {

// Counts how often a folded job is looked at.
class Counting final : public model::JobFolding {
  public:
    void fold(const model::Job& job, std::string& to) const override {
        to = std::to_string(++last_);
        kept_.emplace(to, job);
    }
    model::Job unfold(std::string_view folded) const override {
        ++unfolded;
        return kept_.at(std::string(folded));
    }
    mutable int unfolded = 0;

  private:
    mutable int last_ = 0;
    mutable std::map<std::string, model::Job> kept_;
};

Settings one_node() {
    Settings settings;
    model::NodeConfig node;
    node.name = "n1";
    node.cpus = node.cores_per_socket = 8;
    node.sockets = node.threads_per_core = 1;
    node.memory = model::MiB{1000};
    settings.nodes = {node};
    model::Partition partition;
    partition.name = "debug";
    partition.is_default = true;
    partition.nodes = {"n1"};
    settings.partitions = {partition};
    return settings;
}

TEST(Calendar, AMagnetThatBeginsLooksAtTheJobsOfItsUsersAlone) {
    constexpr std::uint32_t kOthers = 1000, kMine = 2000;
    const auto folding = std::make_shared<Counting>();
    Instant now = from_unix_seconds(1000000);
    Cluster cluster(one_node(), {}, now, {.folding = folding, .open_max = 4});
    const auto submit = [&](std::uint32_t uid) {
        event::Submit event{Token{1}, Caller{uid, uid}, {}};
        event.spec.hold = true;
        cluster.step(now, event);
    };
    for (int i = 0; i < 300; ++i) submit(kOthers);
    for (int i = 0; i < 5; ++i) submit(kMine);
    ASSERT_EQ(cluster.jobs().size(), 305u);

    event::UpdateReservation make{Token{2}, Caller{0, 0}, {}};
    make.update.action = model::ReservationUpdate::Action::Create;
    make.update.name = "drawn";
    make.update.start = now + Seconds{10};
    make.update.duration = Seconds{600};
    make.update.nodes = {"n1"};
    make.update.users = {model::NameListChange::Mode::Set, {{"me", {kMine}}}};
    make.update.flags.set =
        bit(model::ReservationFlag::Magnetic) | bit(model::ReservationFlag::PurgeComp);
    cluster.step(now, make);
    ASSERT_TRUE(cluster.reservations().contains("drawn"));

    folding->unfolded = 0;
    now += Seconds{10};
    cluster.step(now, event::Tick{});
    cluster.schedule(now);
    EXPECT_TRUE(cluster.reservations().at("drawn").is_active(now));
    EXPECT_LE(folding->unfolded, 20);
    folding->unfolded = 0;
    now += Seconds{600};
    cluster.step(now, event::Tick{});
    cluster.schedule(now);
    EXPECT_TRUE(cluster.reservations().empty());
    EXPECT_LE(folding->unfolded, 20);
}

}  // namespace
}  // namespace switchyard::core
