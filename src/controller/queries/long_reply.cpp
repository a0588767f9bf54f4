#include "controller/queries/long_reply.hpp"

#include "base/limits.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::controller {

LongReply::LongReply(Calls& calls, Session& session, std::uint64_t request,
                     std::function<void(wire::Reply&)> begin)
    : calls_(calls),
      session_(session),
      request_(request),
      begin_(std::move(begin)),
      reply_(std::make_unique<wire::Reply>()) {
    start();
}

LongReply::~LongReply() = default;

void LongReply::start() {
    reply_->Clear();
    reply_->set_id(request_);
    begin_(*reply_);
    bytes_ = 0;
}

wire::Reply& LongReply::next() {
    if (bytes_ >= limits::kReplyBytesMax) {
        session_.send(reply_->SerializeAsString());
        start();
    }
    return *reply_;
}

void LongReply::finish() {
    reply_->set_last(true);
    calls_.finish(session_, reply_->SerializeAsString());
}

}  // namespace switchyard::controller
