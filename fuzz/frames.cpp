// frames.cpp: bytes of a peer, cut into frames, read as every kind of message, turned into values.
#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.hpp"
#include "wire/codec.hpp"
#include "wire/frame_buffer.hpp"
#include "wire/proto/node.pb.h"
#include "wire/proto/step_io.pb.h"

namespace switchyard {
namespace {

template <typename Message>
void read_message(std::string_view bytes) {
    Message message;
    (void)message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// What decodes, encodes; and that decodes again to the same.
template <typename Message>
void read_value(std::string_view bytes) {
    Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    const auto value = wire::decode(message);
    if (!value) return;
    Message back;
    wire::encode(*value, &back);
    const auto again = wire::decode(back);
    fuzz::must(static_cast<bool>(again), "what was decoded and encoded decodes again");
    Message third;
    wire::encode(*again, &third);
    fuzz::must(back.SerializeAsString() == third.SerializeAsString(),
               "codecs keep what they have read");
}

using Reader = void (*)(std::string_view);
constexpr Reader kReaders[] = {
    read_message<wire::Request>,
    read_message<wire::Reply>,
    read_message<wire::ControllerToAgent>,
    read_message<wire::AgentToController>,
    read_message<wire::StepdToSrun>,
    read_message<wire::SrunToStepd>,
    read_value<wire::JobSpec>,
    read_value<wire::Job>,
    read_value<wire::Allocation>,
    read_value<wire::StepSpec>,
    read_value<wire::StepLayout>,
    read_value<wire::Step>,
    read_value<wire::NodeFacts>,
    read_value<wire::Node>,
    read_value<wire::Partition>,
    read_value<wire::JobSelector>,
    read_value<wire::JobUpdate>,
    read_value<wire::NodeUpdate>,
    read_value<wire::PartitionUpdate>,
    read_message<wire::AgentToStepd>,
    read_message<wire::StepdToAgent>,
    read_value<wire::Trigger>,
    read_value<wire::Reservation>,
};

}  // namespace

// The first byte says how the bytes arrive in pieces; the first byte of each frame, which message
// it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = std::size_t{1} + data[0];
    std::string_view rest = fuzz::as_text(data + 1, size - 1);
    wire::FrameBuffer buffer(wire::kWithOwnFork);
    while (!rest.empty()) {
        const auto space = buffer.space();
        const std::size_t count = std::min({piece, rest.size(), space.size()});
        std::memcpy(space.data(), rest.data(), count);
        buffer.commit(count);
        rest.remove_prefix(count);
        while (true) {
            const auto frame = buffer.next();
            if (!frame) return 0;
            if (!*frame) break;
            if ((*frame)->empty()) continue;
            const auto kind = static_cast<unsigned char>((*frame)->front());
            kReaders[kind % std::size(kReaders)]((*frame)->substr(1));
        }
    }
    return 0;
}

}  // namespace switchyard
