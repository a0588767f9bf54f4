// Goal: whoever holds the key is connected, whoever does not is told so, and nothing else gets in.
// Method: both ends on one loop over the loopback interface, and naked sockets for what is no TLS
// at all.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <thread>

#include "wire/channel_fixture.hpp"

namespace switchyard::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A server that has a fresh certificate and does not know our key; blocks until the handshake is
// over.
void accept_with_certificate(int socket) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"),
                                                                   &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), pair.get());
    X509_sign(certificate.get(), pair.get(), EVP_sha256());
    SSL_CTX_use_certificate(context.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), pair.get());
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
    SSL_set_fd(ssl.get(), socket);
    SSL_accept(ssl.get());
}

class TlsTest : public ChannelFixture {
  protected:
    static PresharedKey key(char fill = 'k') {
        return {.identity = "cluster", .key = std::string(32, fill)};
    }

    void listen(PresharedKey with) {
        auto made = Listener::on_tcp(loop_, "127.0.0.1", 0, [this, with](io::Fd socket) {
            right_.channel = Channel::adopt_tls_server(loop_, std::move(socket), kControllerToAgent,
                                                       with, right_.handlers());
        });
        ASSERT_TRUE(made) << made.error().message;
        listener_ = *std::move(made);
        ASSERT_NE(listener_->port(), 0);
    }
    void connect(PresharedKey with, const std::string& host = "127.0.0.1") {
        left_.channel = Channel::connect_tls(loop_, host, listener_->port(), kAgentToController,
                                             std::move(with), left_.handlers());
    }
    io::Fd connect_naked() {
        io::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(listener_->port());
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
        return socket;
    }
    void run_until_both_closed() {
        run_until([&] { return left_.closed.has_value() && right_.closed.has_value(); });
    }

    std::unique_ptr<Listener> listener_;
    End left_, right_;
};

TEST_F(TlsTest, ConnectsThoseWhoHoldTheKey) {
    listen(key());
    connect(key());
    left_.channel->send("before it is ready");
    run_until([&] { return left_.ready && right_.frames.size() == 1; });
    right_.channel->send("answer");
    run_until([&] { return left_.frames.size() == 1; });
    EXPECT_THAT(right_.frames, ElementsAre("before it is ready"));
    EXPECT_THAT(left_.frames, ElementsAre("answer"));
    EXPECT_EQ(right_.channel->peer_address(), "127.0.0.1");
    EXPECT_FALSE(right_.channel->peer());
}

TEST_F(TlsTest, LooksNamesUp) {
    listen(key());
    connect(key(), "localhost");
    run_until([&] { return left_.ready; });
}

TEST_F(TlsTest, SaysThatANameCannotBeResolved) {
    listen(key());
    connect(key(), "no-such-host.invalid");
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Unreachable);
    EXPECT_THAT(left_.closed->message, HasSubstr("no-such-host.invalid: "));
}

TEST_F(TlsTest, ALookUpThatNobodyWaitsForDoesNoHarm) {
    listen(key());
    for (int i = 0; i < 20; ++i) {
        connect(key(), "localhost");
        run_for(Millis{0});
        left_.channel.reset();
    }
    run_for(Millis{20});
}

TEST_F(TlsTest, TellsBothSidesOfAWrongKey) {
    listen(key('k'));
    connect(key('w'));
    left_.channel->send("secret");
    run_until_both_closed();
    EXPECT_EQ(left_.closed->code, Errc::AccessDenied);
    EXPECT_THAT(left_.closed->message, HasSubstr("does not accept our key 'cluster'"));
    EXPECT_EQ(right_.closed->code, Errc::AccessDenied);
    EXPECT_EQ(right_.closed->message, "the other end does not hold the same key");
    EXPECT_FALSE(left_.ready);
    EXPECT_FALSE(right_.ready);
    EXPECT_TRUE(right_.frames.empty());
}

TEST_F(TlsTest, TellsBothSidesOfAnUnknownIdentity) {
    listen(key());
    connect({.identity = "elsewhere", .key = std::string(32, 'k')});
    run_until_both_closed();
    EXPECT_THAT(left_.closed->message, HasSubstr("does not accept our key 'elsewhere'"));
    EXPECT_EQ(right_.closed->message, "the other end uses a key named 'elsewhere', unknown here");
}

TEST_F(TlsTest, RefusesAKeyOfTheWrongSize) {
    listen(key());
    connect({.identity = "cluster", .key = "short"});
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->message, "the key has not 32 bytes");
}

TEST_F(TlsTest, RefusesWhatIsNoTls) {
    listen(key());
    const io::Fd naked = connect_naked();
    ASSERT_EQ(::send(naked.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    run_until([&] { return right_.closed.has_value(); });
    EXPECT_EQ(right_.closed->code, Errc::AccessDenied);
    EXPECT_THAT(right_.closed->message, HasSubstr("TLS handshake failed"));
}

TEST_F(TlsTest, DoesNotTakeACertificateForTheKey) {
    std::thread impostor;
    auto made = Listener::on_tcp(loop_, "127.0.0.1", 0, [&](io::Fd socket) {
        ::fcntl(socket.get(), F_SETFL, 0);
        impostor =
            std::thread([socket = std::move(socket)] { accept_with_certificate(socket.get()); });
    });
    ASSERT_TRUE(made);
    listener_ = *std::move(made);
    connect(key());
    left_.channel->send("secret");
    run_until([&] { return left_.closed.has_value(); });
    impostor.join();
    EXPECT_EQ(left_.closed->code, Errc::AccessDenied);
    EXPECT_FALSE(left_.ready);
}

TEST_F(TlsTest, NoticesAPeerThatHangsUpDuringTheHandshake) {
    listen(key());
    connect_naked();
    run_until([&] { return right_.closed.has_value(); });
    EXPECT_EQ(right_.closed->message,
              "the other end closed the connection instead of proving its key");
}

TEST_F(TlsTest, SaysThatNobodyListens) {
    listen(key());
    const std::uint16_t port = listener_->port();
    listener_.reset();
    left_.channel =
        Channel::connect_tls(loop_, "127.0.0.1", port, kAgentToController, key(), left_.handlers());
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Unreachable);
    EXPECT_THAT(left_.closed->message, HasSubstr("Connection refused"));
}

TEST_F(TlsTest, CarriesLargeAndManyFramesBothWays) {
    listen(key());
    connect(key());
    run_until([&] { return left_.ready && right_.ready; });
    std::string large(8u << 20, 'x');
    large[4'000'000] = 'y';
    left_.channel->send(large);
    right_.channel->send(large);
    constexpr std::size_t kCount = 20'000;
    for (std::size_t i = 0; i < kCount; ++i) left_.channel->send(std::to_string(i));
    run_until([&] { return left_.frames.size() == 1 && right_.frames.size() == kCount + 1; });
    EXPECT_TRUE(left_.frames[0] == large);
    EXPECT_TRUE(right_.frames[0] == large);
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(right_.frames[i + 1], std::to_string(i));
}

TEST_F(TlsTest, APausedReaderLosesNothing) {
    listen(key());
    connect(key());
    run_until([&] { return left_.ready && right_.ready; });
    right_.channel->pause_reading(true);
    for (int i = 0; i < 100; ++i) left_.channel->send(std::string(100'000, 'x'));
    run_for(Millis{20});
    EXPECT_TRUE(right_.frames.empty());
    right_.channel->pause_reading(false);
    run_until([&] { return right_.frames.size() == 100; });
}

TEST_F(TlsTest, CloseSendsWhatIsQueued) {
    listen(key());
    connect(key());
    run_until([&] { return left_.ready && right_.ready; });
    left_.channel->send("goodbye");
    left_.channel->close();
    run_until([&] { return right_.closed.has_value(); });
    EXPECT_THAT(right_.frames, ElementsAre("goodbye"));
    EXPECT_EQ(right_.closed->message, "connection closed");
}

TEST_F(TlsTest, LastWordsArriveAlsoFromAPeerThatDidNotListen) {
    listen(key());
    connect(key());
    run_until([&] { return left_.ready && right_.ready; });
    right_.channel->pause_reading(true);
    for (int i = 0; i < 5; ++i) left_.channel->send(std::string(10'000, 'x'));
    run_for(Millis{5});
    right_.channel->send(std::string(200'000, 'y'));
    right_.channel->send("last words");
    right_.channel->on_drained([&] { right_.channel->close(); });
    run_until([&] { return left_.closed.has_value(); });
    ASSERT_EQ(left_.frames.size(), 2u);
    EXPECT_EQ(left_.frames[1], "last words");
}

TEST_F(TlsTest, ListensOnEveryAddressAndNamesAnIpv4PeerByItsIpv4Address) {
    auto made = Listener::on_tcp(loop_, "", 0, [this](io::Fd socket) {
        right_.channel = Channel::adopt_tls_server(loop_, std::move(socket), kControllerToAgent,
                                                   key(), right_.handlers());
    });
    ASSERT_TRUE(made) << made.error().message;
    listener_ = *std::move(made);
    connect(key());
    run_until([&] { return right_.ready; });
    EXPECT_EQ(right_.channel->peer_address(), "127.0.0.1");
}

}  // namespace
}  // namespace switchyard::wire
