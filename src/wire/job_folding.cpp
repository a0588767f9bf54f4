#include "wire/job_folding.hpp"

#include "base/assert.hpp"
#include "wire/codec.hpp"

namespace switchyard::wire {
namespace {

class WireFolding final : public model::JobFolding {
  public:
    void fold(const model::Job& job, std::string& to) const override {
        message_.Clear();
        encode(job, &message_);
        SY_ASSERT(message_.SerializeToString(&to));
    }

    model::Job unfold(std::string_view folded) const override {
        SY_ASSERT(message_.ParseFromArray(folded.data(), static_cast<int>(folded.size())));
        model::Job job;
        // It is what we have folded ourselves.
        SY_ASSERT(decode_into(message_, job));
        return job;
    }

  private:
    mutable Job message_;  // Kept, because to fill it again costs no allocations.
};

}  // namespace

std::unique_ptr<const model::JobFolding> make_job_folding() {
    return std::make_unique<WireFolding>();
}

}  // namespace switchyard::wire
