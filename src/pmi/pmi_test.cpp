// Goal: tasks of several nodes find each other's values through PMI-1 and PMI-2, whatever the order
// in which they come. Method: real servers on one loop, a hub between them, and the test as the
// tasks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <deque>

#include "pmi/hub.hpp"
#include "pmi/key_values.hpp"
#include "pmi/simple_server.hpp"
#include "pmi/simple_wire.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Place place_of(std::vector<std::vector<std::uint32_t>> tasks) {
    Place place;
    place.step = "12.0";
    for (auto& each : tasks) {
        place.nodes.push_back({"n" + std::to_string(place.nodes.size() + 1), std::move(each)});
    }
    place.universe_size = place.task_count();
    return place;
}

TEST(ProcessMapping, JoinsNodesThatHaveAsManyTasks) {
    EXPECT_EQ(process_mapping(place_of({{0, 1}, {2, 3}})), "(vector,(0,2,2))");
    EXPECT_EQ(process_mapping(place_of({{0, 1, 2}, {3}})), "(vector,(0,1,3),(1,1,1))");
    EXPECT_EQ(process_mapping(place_of({{0, 2}, {1, 3}})), "(vector,(0,2,1),(0,2,1))");
    EXPECT_EQ(process_mapping(place_of({{0}})), "(vector,(0,1,1))");
}

TEST(SimpleWire, ReadsLinesWhoseLastValueHasBlanks) {
    std::string bytes = "cmd=put kvsname=12.0 key=k value=a b=c\ncmd=bar";
    const auto words = take_words(bytes, Dialect::Pmi1);
    ASSERT_TRUE(words && *words);
    EXPECT_EQ((*words)->command(), "put");
    EXPECT_EQ((*words)->get("value"), "a b=c");
    EXPECT_EQ(bytes, "cmd=bar");
    const auto unfinished = take_words(bytes, Dialect::Pmi1);
    ASSERT_TRUE(unfinished);
    EXPECT_FALSE(unfinished->has_value());
}

TEST(SimpleWire, DoublesSemicolonsInsideValues) {
    const Words words{{{"cmd", "kvs-put"}, {"key", "a"}, {"value", "x;y=z"}}};
    std::string bytes = format_words(words, Dialect::Pmi2);
    EXPECT_EQ(bytes, "    31cmd=kvs-put;key=a;value=x;;y=z;");
    const auto again = take_words(bytes, Dialect::Pmi2);
    ASSERT_TRUE(again && *again);
    EXPECT_EQ((*again)->pairs, words.pairs);
    EXPECT_THAT(bytes, IsEmpty());
}

TEST(SimpleWire, RefusesWhatIsNoPmi) {
    std::string bytes = "hello, world";
    EXPECT_FALSE(take_words(bytes, Dialect::Pmi2));
}

TEST(KeyValues, ReadBackAsWritten) {
    const KeyValues pairs{
        {"a", "1"}, {"", std::string("\0x", 2)}, {"long", std::string(70000, 'v')}};
    KeyValues again;
    ASSERT_TRUE(decode_into(encode(pairs), again));
    EXPECT_EQ(again, pairs);
    EXPECT_FALSE(decode_into(std::string_view("\x05\0\0\0ab", 6), again));
}

wire::PmiMessage part(const std::string& name, const std::string& data,
                      const std::vector<std::uint32_t>& nodes = {}) {
    wire::PmiMessage message;
    message.set_kind(static_cast<std::uint32_t>(Kind::Part));
    message.set_name(name);
    message.add_parts(data);
    for (const std::uint32_t node : nodes) message.add_nodes(node);
    return message;
}

TEST(Hub, GivesTheWholeToAllWhenTheLastPartHasCome) {
    Hub hub(3);
    EXPECT_THAT(hub.take(2, part("f 1", "c")), IsEmpty());
    EXPECT_THAT(hub.take(0, part("f 1", "a")), IsEmpty());
    const auto deliveries = hub.take(1, part("f 1", "b"));
    ASSERT_THAT(deliveries, SizeIs(3));
    wire::PmiMessage whole;
    ASSERT_TRUE(whole.ParseFromString(deliveries[0].message));
    EXPECT_THAT(whole.parts(), ElementsAre("a", "b", "c"));
    // The same name again is another exchange.
    EXPECT_THAT(hub.take(1, part("f 1", "b")), IsEmpty());
}

TEST(Hub, LeavesOutNodesThatTakeNoPart) {
    Hub hub(3);
    EXPECT_THAT(hub.take(0, part("f 0,5 1", "a", {0, 2})), IsEmpty());
    EXPECT_THAT(hub.take(2, part("f 0,5 1", "c", {0, 2})), SizeIs(2));
    EXPECT_THAT(hub.take(1, part("g", "b", {0, 2})), IsEmpty()) << "not one of them";
    EXPECT_THAT(hub.take(1, part("h", "b", {1, 9})), IsEmpty()) << "no such node";
}

TEST(Hub, HandsQuestionsOnWithTheNodeThatAsked) {
    Hub hub(2);
    wire::PmiMessage ask;
    ask.set_kind(static_cast<std::uint32_t>(Kind::Ask));
    ask.set_to(1);
    const auto deliveries = hub.take(0, ask);
    ASSERT_THAT(deliveries, SizeIs(1));
    EXPECT_EQ(deliveries[0].node, 1u);
    wire::PmiMessage onward;
    ASSERT_TRUE(onward.ParseFromString(deliveries[0].message));
    EXPECT_EQ(onward.from(), 0u);
    ask.set_to(7);
    EXPECT_THAT(hub.take(0, ask), IsEmpty());
}

// Two nodes with two tasks each, and the test at the tasks' ends of the sockets.
class SimpleServerTest : public testing::Test {
  protected:
    SimpleServerTest() {
        for (std::uint32_t node = 0; node < 2; ++node) {
            Place place = place_of({{0, 1}, {2, 3}});
            place.node_index = node;
            const auto send = [this, node](const auto& message) {
                if (static_cast<Kind>(message.kind()) == Kind::Abort)
                    aborts.push_back(message.name());
                for (auto& each : hub.take(node, message)) deliver(each);
            };
            servers.push_back(
                *make_simple_server(loop, place, send, [](const Status& ok) { EXPECT_TRUE(ok); }));
            for (std::uint32_t local = 0; local < 2; ++local) {
                Door door = *servers[node]->open_door(local);
                environments.push_back(door.environment);
                tasks.push_back(std::move(door.fd));
            }
        }
    }

    void deliver(const Hub::Delivery& delivery) {
        wire::PmiMessage message;
        ASSERT_TRUE(message.ParseFromString(delivery.message));
        servers[delivery.node]->receive(message);
    }

    // Until the servers have read, and so answered, all that tasks have said.
    void settle() {
        bool unread = true;
        while (unread) {
            const auto timer = loop.after(Millis{1}, [this] { loop.stop(); });
            loop.run();
            unread = false;
            for (const io::Fd& task : tasks) {
                int bytes = 0;
                unread = unread || (::ioctl(task.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0);
            }
        }
    }

    // What the task says, and what it is told when all is quiet.
    std::string ask(std::size_t task, const std::string& text) {
        EXPECT_EQ(::send(tasks[task].get(), text.data(), text.size(), 0),
                  static_cast<ssize_t>(text.size()));
        settle();
        return hear(task);
    }
    std::string hear(std::size_t task) {
        char bytes[4096];
        const ssize_t got = ::recv(tasks[task].get(), bytes, sizeof bytes, MSG_DONTWAIT);
        return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
    }
    static std::string framed(const std::string& body) {
        std::string digits = std::to_string(body.size());
        return std::string(6 - digits.size(), ' ') + digits + body;
    }

    io::Loop loop;
    Hub hub{2};
    std::vector<std::unique_ptr<Server>> servers;
    std::vector<io::Fd> tasks;
    std::vector<std::vector<std::string>> environments;
    std::vector<std::string> aborts;
};

TEST_F(SimpleServerTest, TellsEachTaskItsRankAndSocket) {
    EXPECT_THAT(environments[3], testing::Contains("PMI_RANK=3"));
    EXPECT_THAT(environments[3], testing::Contains("PMI_SIZE=4"));
    EXPECT_THAT(environments[3], testing::Contains("PMI_FD=" + std::to_string(tasks[3].get())));
}

TEST_F(SimpleServerTest, CarriesValuesToOtherNodesInABarrierOfPmi1) {
    for (std::size_t task = 0; task < 4; ++task) {
        EXPECT_EQ(ask(task, "cmd=init pmi_version=1 pmi_subversion=1\n"),
                  "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    }
    EXPECT_EQ(ask(0, "cmd=get_my_kvsname\n"), "cmd=my_kvsname kvsname=12.0\n");
    EXPECT_THAT(ask(0, "cmd=get kvsname=12.0 key=PMI_process_mapping\n"),
                HasSubstr("value=(vector,(0,2,2))"));
    EXPECT_THAT(ask(3, "cmd=put kvsname=12.0 key=P3 value=here I am\n"), HasSubstr("rc=0"));
    EXPECT_THAT(ask(0, "cmd=get kvsname=12.0 key=P3\n"), HasSubstr("rc=-1"));
    for (std::size_t task = 0; task < 3; ++task) EXPECT_EQ(ask(task, "cmd=barrier_in\n"), "");
    EXPECT_EQ(ask(3, "cmd=barrier_in\n"), "cmd=barrier_out\n");
    settle();
    for (std::size_t task = 0; task < 3; ++task) EXPECT_EQ(hear(task), "cmd=barrier_out\n");
    EXPECT_EQ(ask(0, "cmd=get kvsname=12.0 key=P3\n"), "cmd=get_result rc=0 value=here I am\n");
    EXPECT_EQ(ask(1, "cmd=finalize\n"), "cmd=finalize_ack\n");
    EXPECT_THAT(ask(1, "mcmd=spawn\nnprocs=1\nendcmd\n"), HasSubstr("rc=-1"));
}

TEST_F(SimpleServerTest, SpeaksPmi2ToThoseWhoAskForIt) {
    for (std::size_t task = 0; task < 4; ++task) {
        EXPECT_EQ(ask(task, "cmd=init pmi_version=2 pmi_subversion=0\n"),
                  "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
        EXPECT_THAT(ask(task, framed("cmd=fullinit;pmijobid=12.0;pmirank=0;threaded=FALSE;")),
                    HasSubstr("rank=" + std::to_string(task) + ";size=4;"));
    }
    EXPECT_THAT(ask(2, framed("cmd=kvs-put;thrid=7;key=k;value=a;;b;")),
                HasSubstr("cmd=kvs-put-response;thrid=7;rc=0;"));
    for (std::size_t task = 0; task < 3; ++task) EXPECT_EQ(ask(task, framed("cmd=kvs-fence;")), "");
    EXPECT_THAT(ask(3, framed("cmd=kvs-fence;")), HasSubstr("cmd=kvs-fence-response;rc=0;"));
    EXPECT_THAT(ask(0, framed("cmd=kvs-get;jobid=12.0;srcid=-1;key=k;")),
                HasSubstr("found=TRUE;value=a;;b;"));
    EXPECT_THAT(ask(1, framed("cmd=kvs-get;jobid=12.0;srcid=-1;key=x;")),
                HasSubstr("found=FALSE;"));
    EXPECT_THAT(ask(0, framed("cmd=info-getjobattr;key=universeSize;")), HasSubstr("value=4;"));
    EXPECT_THAT(ask(0, framed("cmd=name-publish;name=a;port=b;")), HasSubstr("rc=1;"));
}

TEST_F(SimpleServerTest, KeepsAskersOfANodeAttributeWaitingUntilItIsPut) {
    for (std::size_t task = 0; task < 4; ++task)
        ask(task, "cmd=init pmi_version=2 pmi_subversion=0\n");
    EXPECT_EQ(ask(0, framed("cmd=info-getnodeattr;key=shm;wait=TRUE;")), "");
    EXPECT_EQ(ask(2, framed("cmd=info-getnodeattr;key=shm;wait=TRUE;")), "");
    EXPECT_THAT(ask(1, framed("cmd=info-putnodeattr;key=shm;value=/x;")), HasSubstr("rc=0;"));
    EXPECT_THAT(hear(0), HasSubstr("found=TRUE;value=/x;"));
    EXPECT_EQ(hear(2), "") << "attributes are of one node";
}

TEST_F(SimpleServerTest, KeepsNoMoreThanItsLimit) {
    ask(0, "cmd=init pmi_version=1 pmi_subversion=1\n");
    const std::string value(60'000, 'x');
    int kept = 0;
    while (kept < 10'000 &&
           ask(0, fmt::format("cmd=put kvsname=12.0 key=k{} value={}\n", kept, value))
               .contains("rc=0"))
        ++kept;
    EXPECT_GT(kept, 1000);
    EXPECT_LT(kept, 2500);
}

TEST_F(SimpleServerTest, TellsSrunOfAnAbort) {
    ask(3, "cmd=init pmi_version=1 pmi_subversion=1\n");
    ask(3, "cmd=abort exitcode=5\n");
    EXPECT_THAT(aborts, ElementsAre(HasSubstr("task 3 called abort: exit code 5")));
}

}  // namespace
}  // namespace switchyard::pmi
