// tls_stream.cpp: TLS 1.3 with a pre-shared key and nothing else: no certificates, no tickets, no
// older versions.
//
// Both sides prove that they hold the key and agree on a fresh one (psk_dhe_ke with X25519), so
// what was recorded cannot be read by whoever finds the key later. OpenSSL is started by the first
// stream, so that programs that never speak TLS do not pay for it. Its socket BIO would raise
// SIGPIPE; ours does not.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/assert.hpp"
#include "wire/key.hpp"
#include "wire/stream.hpp"
#include "wire/tcp.hpp"

namespace switchyard::wire {
namespace {

constexpr int kUnreadPiecesMax = 1024;
constexpr unsigned char kAes128GcmSha256[2] = {0x13, 0x01};

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};
using SslContext = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Deleter<SSL_free>>;

// --- a BIO over a descriptor it does not own ---

int bio_fd(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int bio_result(BIO* bio, ssize_t result, int retry) {
    BIO_clear_retry_flags(bio);
    if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_flags(bio, retry);
    return static_cast<int>(result);
}
int bio_read(BIO* bio, char* into, int size) {
    const ssize_t got = ::recv(bio_fd(bio), into, static_cast<std::size_t>(size), MSG_DONTWAIT);
    return bio_result(bio, got, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
}
int bio_write(BIO* bio, const char* bytes, int size) {
    const ssize_t put =
        ::send(bio_fd(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
    return bio_result(bio, put, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
}
long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* bio_method() {
    static const BIO_METHOD* const method = [] {
        BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        SY_ASSERT(made != nullptr);
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    return method;
}

// --- the key ---

class TlsStream;
TlsStream& stream_of(SSL* ssl) { return *static_cast<TlsStream*>(SSL_get_app_data(ssl)); }
int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* size,
              SSL_SESSION** session);
int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session);

SslContext make_context(TlsRole role) {
    // No configuration file: what it might say is not for us. No clean-up at exit: the kernel does
    // that faster.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
    SslContext context(
        SSL_CTX_new(role == TlsRole::Client ? TLS_client_method() : TLS_server_method()));
    SY_ASSERT(context != nullptr);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION);
    SY_ASSERT(SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256") == 1);
    SY_ASSERT(SSL_CTX_set1_groups_list(context.get(), "X25519") == 1);
    SSL_CTX_set_options(context.get(),
                        SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(context.get(), 0);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context.get(), 1);
    // A server that answers with a certificate instead of the key finds no authority that we trust.
    if (role == TlsRole::Client) SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_psk_use_session_callback(context.get(), offer_key);
    SSL_CTX_set_psk_find_session_callback(context.get(), find_key);
    return context;
}

// Made on first use and never changed after.
SSL_CTX* context_for(TlsRole role) {
    if (role == TlsRole::Client) {
        static const SslContext client = make_context(TlsRole::Client);
        return client.get();
    }
    static const SslContext server = make_context(TlsRole::Server);
    return server.get();
}

std::string last_reason() {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = ERR_reason_error_string(code);
    return reason != nullptr ? reason : "unknown error";
}

class TlsStream final : public Stream {
  public:
    TlsStream(io::Fd socket, PresharedKey key, TlsRole role)
        : socket_(std::move(socket)),
          key_(std::move(key)),
          role_(role),
          ssl_(SSL_new(context_for(role))) {
        SY_ASSERT(ssl_ != nullptr);
        tune_tcp(socket_.get());
        address_ = tcp_peer_address(socket_.get());
        BIO* bio = BIO_new(bio_method());
        SY_ASSERT(bio != nullptr);
        BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket_.get())));
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl_.get(), bio, bio);
        SSL_set_app_data(ssl_.get(), this);
        if (role == TlsRole::Client) {
            SSL_set_connect_state(ssl_.get());
        } else {
            SSL_set_accept_state(ssl_.get());
        }
    }
    ~TlsStream() override { OPENSSL_cleanse(key_.key.data(), key_.key.size()); }

    int fd() const override { return socket_.get(); }
    Transfer handshake() override;
    Transfer read(std::span<char> into) override;
    Transfer write(std::string_view bytes) override;
    bool wants_write() const override { return wants_write_; }
    bool drained_by_short_read() const override { return false; }
    void say_goodbye() override {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ::shutdown(socket_.get(), SHUT_WR);
        // Closing with bytes unread would make the kernel drop what it has not yet sent.
        char unread[16384];
        for (int i = 0;
             i < kUnreadPiecesMax && ::recv(socket_.get(), unread, sizeof unread, MSG_DONTWAIT) > 0;
             ++i) {
        }
    }
    Result<PeerCredentials> peer() const override {
        return fail(Errc::Unsupported, "only a unix socket knows who is at the other end");
    }
    std::string peer_address() const override { return address_; }

    const PresharedKey& key() const { return key_; }
    void note_unknown_identity(std::string_view identity) { unknown_identity_ = identity; }

  private:
    Transfer outcome(int result, std::size_t bytes);
    std::string handshake_error() const;

    io::Fd socket_;
    PresharedKey key_;
    TlsRole role_;
    Ssl ssl_;
    std::string address_;
    std::string unknown_identity_;
    bool wants_write_ = false;
};

Transfer TlsStream::outcome(int result, std::size_t bytes) {
    wants_write_ = false;
    if (result > 0) return {.bytes = bytes};
    const int system_error = errno;
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_WRITE:
            wants_write_ = true;
            [[fallthrough]];
        case SSL_ERROR_WANT_READ:
            return {.kind = Transfer::Kind::Again};
        case SSL_ERROR_ZERO_RETURN:
            return {.kind = Transfer::Kind::End};
        case SSL_ERROR_SYSCALL:
            if (system_error != 0)
                return {.kind = Transfer::Kind::Failed, .error = std::strerror(system_error)};
            return {.kind = Transfer::Kind::End};
        default:
            return {.kind = Transfer::Kind::Failed, .error = "TLS: " + last_reason()};
    }
}

Transfer TlsStream::handshake() {
    if (key_.key.size() != kKeyBytes)
        return {.kind = Transfer::Kind::Failed, .error = "the key has not 32 bytes"};
    ERR_clear_error();
    errno = 0;
    Transfer done = outcome(SSL_do_handshake(ssl_.get()), 0);
    if (done.kind == Transfer::Kind::Failed) done.error = handshake_error();
    if (done.kind == Transfer::Kind::End) {
        return {.kind = Transfer::Kind::Failed,
                .error = "the other end closed the connection instead of proving its key"};
    }
    // What a pre-shared key was used for counts as a resumed session. Without it nobody has proved
    // anything.
    if (done.kind == Transfer::Kind::Done && SSL_session_reused(ssl_.get()) != 1) {
        return {.kind = Transfer::Kind::Failed,
                .error = "the other end did not prove that it holds the key"};
    }
    return done;
}

std::string TlsStream::handshake_error() const {
    const unsigned long code = ERR_peek_last_error();
    const bool is_ssl = ERR_GET_LIB(code) == ERR_LIB_SSL;
    const int reason = ERR_GET_REASON(code);
    if (!unknown_identity_.empty())
        return "the other end uses a key named '" + unknown_identity_ + "', unknown here";
    if (is_ssl && reason == SSL_R_BINDER_DOES_NOT_VERIFY)
        return "the other end does not hold the same key";
    const bool alert = is_ssl && reason >= SSL_AD_REASON_OFFSET;
    if (alert && role_ == TlsRole::Client) {
        return "the other end does not accept our key '" + key_.identity + "' (" + last_reason() +
               ")";
    }
    if (code == 0) return std::strerror(errno);
    return "TLS handshake failed: " + last_reason();
}

Transfer TlsStream::read(std::span<char> into) {
    ERR_clear_error();
    errno = 0;
    std::size_t got = 0;
    return outcome(SSL_read_ex(ssl_.get(), into.data(), into.size(), &got), got);
}

Transfer TlsStream::write(std::string_view bytes) {
    ERR_clear_error();
    errno = 0;
    std::size_t put = 0;
    return outcome(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put), put);
}

// The key as the session that OpenSSL takes it for. Owned by the caller.
SSL_SESSION* session_of(SSL* ssl, const PresharedKey& key) {
    const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256);
    SSL_SESSION* session = SSL_SESSION_new();
    SY_ASSERT(cipher != nullptr && session != nullptr);
    const auto* bytes = reinterpret_cast<const unsigned char*>(key.key.data());
    SY_ASSERT(SSL_SESSION_set1_master_key(session, bytes, key.key.size()) == 1);
    SY_ASSERT(SSL_SESSION_set_cipher(session, cipher) == 1);
    SY_ASSERT(SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1);
    return session;
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* size,
              SSL_SESSION** session) {
    const PresharedKey& key = stream_of(ssl).key();
    *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
    *size = key.identity.size();
    *session = session_of(ssl, key);
    return 1;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
    TlsStream& stream = stream_of(ssl);
    const std::string_view name(reinterpret_cast<const char*>(identity), size);
    *session = nullptr;
    if (name == stream.key().identity) {
        *session = session_of(ssl, stream.key());
    } else {
        stream.note_unknown_identity(name);
    }
    return 1;
}

}  // namespace

std::unique_ptr<Stream> make_tls_stream(io::Fd socket, PresharedKey key, TlsRole role) {
    return std::make_unique<TlsStream>(std::move(socket), std::move(key), role);
}

}  // namespace switchyard::wire
