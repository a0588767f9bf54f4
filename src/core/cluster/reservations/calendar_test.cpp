// calendar_test.cpp: what reservations cost those whom they do not concern. (What they do is told
// in scenarios/reservations.txt.)
#include <gtest/gtest.h>

#include "core/cluster/cluster.hpp"
#include "core/testing/drawers.hpp"

namespace switchyard::core {
namespace {

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
    const auto folding = std::make_shared<testing::Drawers>();
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

    folding->count_anew();
    now += Seconds{10};
    cluster.step(now, event::Tick{});
    cluster.schedule(now);
    EXPECT_TRUE(cluster.reservations().at("drawn").is_active(now));
    EXPECT_LE(folding->unfolded(), 20);
    folding->count_anew();
    now += Seconds{600};
    cluster.step(now, event::Tick{});
    cluster.schedule(now);
    EXPECT_TRUE(cluster.reservations().empty());
    EXPECT_LE(folding->unfolded(), 20);
}

}  // namespace
}  // namespace switchyard::core
