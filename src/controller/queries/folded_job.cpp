#include "controller/queries/folded_job.hpp"

#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "controller/requests/wire_fields.hpp"
#include "model/job.hpp"
#include "model/job_fields.hpp"
#include "wire/fields.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::controller {
namespace {

// How much of a job is kept: who it is and how it stands, or what a line of a list shows as well.
enum class Cut { State, Line, Whole };

// A field that is kept: whole, or if it has parts of its own, those.
class Shape;
struct Kept {
    std::uint32_t number = 0;
    Cut least = Cut::Whole;
    const Shape* parts = nullptr;
};

// The fields of a message that are kept. Most are not, and one look tells so.
class Shape {
  public:
    consteval Shape(std::initializer_list<Kept> fields) {
        std::uint8_t count = 0;
        for (const Kept& field : fields) {
            if (field.least == Cut::Whole) continue;
            kept_.at(count) = field;
            place_.at(field.number) = ++count;
        }
    }
    // Null: it is dropped.
    const Kept* find(std::uint32_t number, Cut to) const {
        if (number >= place_.size() || place_[number] == 0) return nullptr;
        const Kept& kept = kept_[place_[number] - 1u];
        return kept.least <= to ? &kept : nullptr;
    }

  private:
    std::array<Kept, 24> kept_{};
    std::array<std::uint8_t, 160> place_{};  // In kept_, counted from 1.
};

// The parts of a value that are kept; of most it is all or nothing.
template <class T>
constexpr const Shape* kParts = nullptr;
template <class T>
constexpr const Shape* kParts<std::optional<T>> = kParts<T>;
template <class T>
constexpr const Shape* kParts<std::vector<T>> = kParts<T>;

#define SY_KEPT(member, Wire, cut, ...)                                       \
    Kept{static_cast<std::uint32_t>(Message::k##Wire##FieldNumber), Cut::cut, \
         kParts<decltype(Value::member)>},
#define SY_KEPT_PHASE(Type, wire_name)                                          \
    Kept{static_cast<std::uint32_t>(Message::k##Type##FieldNumber), Cut::State, \
         kParts<model::Type>},
#define SY_BY_HAND(...)
#define SY_SHAPE(Type, ...)         \
    constexpr Shape k##Type = [] {  \
        using Value = model::Type;  \
        using Message = wire::Type; \
        return Shape{__VA_ARGS__};  \
    }();                            \
    template <>                     \
    constexpr const Shape* kParts<model::Type> = &k##Type;

SY_SHAPE(NodeGrant, SY_NODE_GRANT_FIELDS(SY_KEPT))
SY_SHAPE(Allocation, SY_ALLOCATION_FIELDS(SY_KEPT))
SY_SHAPE(Running, SY_RUNNING_FIELDS(SY_KEPT))
SY_SHAPE(Pending, SY_PENDING_FIELDS(SY_KEPT))
SY_SHAPE(Suspended, SY_SUSPENDED_FIELDS(SY_KEPT))
SY_SHAPE(Completing, SY_COMPLETING_FIELDS(SY_KEPT))
SY_SHAPE(Ended, SY_ENDED_FIELDS(SY_KEPT))
SY_SHAPE(JobSpec, SY_JOB_SPEC_FIELDS(SY_KEPT))
SY_SHAPE(Job, SY_JOB_FIELDS(SY_KEPT, SY_BY_HAND) SY_JOB_PHASES(SY_KEPT_PHASE)
                  Kept{Message::kSpecFieldNumber, Cut::State, kParts<model::JobSpec>})

char* put(char* out, std::string_view bytes) {
    std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
}

// Writes what is kept of the message, which is never more than the message; returns where it ends.
char* cut(std::string_view message, const Shape& shape, Cut to, char* out) {
    const char* kept_from = message.data();  // From here to the present field all is kept.
    const char* end = kept_from;
    wire::Fields fields(message);
    for (wire::Field field; fields.next(field);) {
        end = field.whole.data() + field.whole.size();
        const Kept* kept = shape.find(field.number, to);
        if (kept != nullptr && kept->parts == nullptr) continue;
        out = put(out, {kept_from, field.whole.data()});
        kept_from = end;
        if (kept == nullptr) continue;
        out = put_field(out, field.number,
                        [&](char* inside) { return cut(field.value, *kept->parts, to, inside); });
    }
    return put(out, {kept_from, end});
}

void append_cut(std::string& out, std::uint32_t number, std::string_view job, Cut to) {
    append_field(out, number, job.size(),
                 [&](char* inside) { return cut(job, *kParts<model::Job>, to, inside); });
}

}  // namespace

FoldedJob look_at_folded(std::string_view job) {
    FoldedJob found;
    wire::Fields fields(job);
    for (wire::Field field; fields.next(field);) {
        switch (field.number) {
            case wire::Job::kPendingFieldNumber:
                found.pending = true;
                break;
            case wire::Job::kRunningFieldNumber:
                found.running = true;
                break;
            case wire::Job::kEndedFieldNumber:
                found.ended = true;
                break;
            case wire::Job::kArrayFieldNumber:
                found.in_array = true;
                break;
            case wire::Job::kPartitionFieldNumber:
                found.partition = field.value;
                break;
            default:
                break;
        }
    }
    return found;
}

void append_state(std::string& out, std::uint32_t number, std::string_view job) {
    append_cut(out, number, job, Cut::State);
}

void append_line(std::string& out, std::uint32_t number, std::string_view job) {
    append_cut(out, number, job, Cut::Line);
}

}  // namespace switchyard::controller
