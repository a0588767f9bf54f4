#include "wire/job_line.hpp"

#include "wire/codec_fields.hpp"
#include "wire/fields.hpp"

namespace switchyard::wire {
namespace {

bool read_part(std::string_view bytes, model::TimeLimit& limit) {
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case TimeLimit::kSecondsFieldNumber:
                limit.seconds = Seconds{static_cast<std::int64_t>(field.varint)};
                break;
            case TimeLimit::kUnlimitedFieldNumber:
                limit.unlimited = field.varint != 0;
                break;
            default:
                return false;
        }
    }
    return fields.ok();
}

bool read_part(std::string_view bytes, model::GresRequest& request) {
    request.count = 0;
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case GresRequest::kNameFieldNumber:
                request.name = field.value;
                break;
            case GresRequest::kTypeFieldNumber:
                request.type = field.value;
                break;
            case GresRequest::kCountFieldNumber:
                request.count = field.varint;
                break;
            default:
                return false;
        }
    }
    return fields.ok();
}

template <Number T>
bool read_varint(const Field& field, T& to) {
    using Sent = decltype(as_number(to));
    static_assert(!std::same_as<Sent, std::int32_t>, "a sint32 is written in another way");
    return bool{read_number(static_cast<Sent>(field.varint), "number", to)};
}

// Where a field of a line is read into. Everything is set, whatever was there before: some when the
// line begins, some when it ends. What stays is the memory of texts.
template <class T>
struct Slot {  // Of what only decode() knows.
    explicit Slot(T&) {}
    static bool read(const Field&) { return false; }
    static void finish() {}
};

template <Number T>
struct Slot<T> {
    T& to;
    explicit Slot(T& place) : to(place) { to = T{}; }
    bool read(const Field& field) { return read_varint(field, to); }
    static void finish() {}
};

template <Number T>
struct Slot<std::optional<T>> {
    std::optional<T>& to;
    explicit Slot(std::optional<T>& place) : to(place) { to.reset(); }
    bool read(const Field& field) { return read_varint(field, to.emplace()); }
    static void finish() {}
};

template <>
struct Slot<std::optional<model::TimeLimit>> {
    std::optional<model::TimeLimit>& to;
    explicit Slot(std::optional<model::TimeLimit>& place) : to(place) { to.reset(); }
    bool read(const Field& field) { return !to && read_part(field.value, to.emplace()); }
    static void finish() {}
};

template <>
struct Slot<std::vector<model::GresRequest>> {
    std::vector<model::GresRequest>& to;
    explicit Slot(std::vector<model::GresRequest>& place) : to(place) { to.clear(); }
    bool read(const Field& field) { return read_part(field.value, to.emplace_back()); }
    static void finish() {}
};

// Jobs that stand beside each other in a list have most of their texts in common.
void set(std::string& to, std::string_view text) {
    if (to != text) to = text;
}

template <>
struct Slot<std::string> {
    std::string& to;
    std::string_view text;
    explicit Slot(std::string& place) : to(place) {}
    bool read(const Field& field) {
        text = field.value;
        return true;
    }
    void finish() { set(to, text); }
};

template <>
struct Slot<std::vector<std::string>> {
    std::vector<std::string>& to;
    std::size_t count = 0;
    explicit Slot(std::vector<std::string>& place) : to(place) {}
    bool read(const Field& field) {
        if (count == to.size()) to.emplace_back();
        set(to[count++], field.value);
        return true;
    }
    void finish() { to.resize(count); }
};

// What a row of a table becomes where a struct `to` is read from fields of its Message. A field
// that no line has is one that only decode() knows.
#define SY_SLOT(member, Wire, cut, ...) SY_SLOT_##cut(member)
#define SY_SLOT_State(member) Slot<decltype(to.member)> slot_##member(to.member);
#define SY_SLOT_Line(member) SY_SLOT_State(member)
#define SY_SLOT_Whole(member)
#define SY_CASE(member, Wire, cut, ...) SY_CASE_##cut(member, Wire)
#define SY_CASE_State(member, Wire)                   \
    case Message::k##Wire##FieldNumber:               \
        if (!slot_##member.read(field)) return false; \
        break;
#define SY_CASE_Line(member, Wire) SY_CASE_State(member, Wire)
#define SY_CASE_Whole(member, Wire)
#define SY_FINISH(member, Wire, cut, ...) SY_FINISH_##cut(member)
#define SY_FINISH_State(member) slot_##member.finish();
#define SY_FINISH_Line(member) SY_FINISH_State(member)
#define SY_FINISH_Whole(member)
#define SY_BY_HAND(...)

}  // namespace

JobLine::JobLine() : spec_(std::make_shared<model::JobSpec>()) {
    waiting_.spec = spec_;
    waiting_.phase.emplace<model::Pending>();
}

Result<const model::Job*> JobLine::read(std::string_view bytes) {
    if (read_waiting(bytes)) return &waiting_;
    Job message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return fail(Errc::InvalidArgument, "a job that cannot be read");
    other_ = {};
    SY_CHECK(decode_into(message, other_));
    return &other_;
}

bool JobLine::read_waiting(std::string_view bytes) {
    using Message = Job;
    model::Job& to = waiting_;
    bool pending = false, spec = false;
    SY_JOB_FIELDS(SY_SLOT, SY_BY_HAND)
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            SY_JOB_FIELDS(SY_CASE, SY_BY_HAND)
            case Job::kSpecFieldNumber:
                if (spec || !read_spec(field.value)) return false;
                spec = true;
                break;
            case Job::kPendingFieldNumber:
                if (pending || !read_pending(field.value)) return false;
                pending = true;
                break;
            default:
                return false;
        }
    }
    SY_JOB_FIELDS(SY_FINISH, SY_BY_HAND)
    if (!spec) read_spec({});
    return fields.ok() && pending;
}

bool JobLine::read_spec(std::string_view bytes) {
    using Message = JobSpec;
    model::JobSpec& to = *spec_;
    SY_JOB_SPEC_FIELDS(SY_SLOT)
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            SY_JOB_SPEC_FIELDS(SY_CASE)
            default:
                return false;
        }
    }
    SY_JOB_SPEC_FIELDS(SY_FINISH)
    return fields.ok();
}

bool JobLine::read_pending(std::string_view bytes) {
    using Message = Pending;
    auto& to = std::get<model::Pending>(waiting_.phase);
    SY_PENDING_FIELDS(SY_SLOT)
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            SY_PENDING_FIELDS(SY_CASE)
            default:
                return false;
        }
    }
    SY_PENDING_FIELDS(SY_FINISH)
    return fields.ok();
}

}  // namespace switchyard::wire
