// update_keys.cpp: the "Key=Value" words of scontrol update and create, of jobs, nodes, partitions
// and reservations. The first byte says which; words end with a line.
#include "cli/scontrol/update_keys.hpp"

#include "base/text.hpp"
#include "cli/scontrol/reservation_keys.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard {
namespace {

constexpr Instant kNow{Seconds{1'800'000'000}};
using cli::KeyWord;

using Reader = void (*)(const std::vector<KeyWord>&);
constexpr Reader kReaders[] = {
    [](const std::vector<KeyWord>& words) { (void)cli::parse_job_change(words, kNow); },
    [](const std::vector<KeyWord>& words) { (void)cli::parse_node_change(words); },
    [](const std::vector<KeyWord>& words) {
        (void)cli::parse_partition_change(words, model::PartitionUpdate::Action::Create);
    },
    [](const std::vector<KeyWord>& words) {
        (void)cli::parse_partition_change(words, model::PartitionUpdate::Action::Update);
    },
    [](const std::vector<KeyWord>& words) {
        (void)cli::parse_reservation_change(words, model::ReservationUpdate::Action::Create, kNow);
    },
    [](const std::vector<KeyWord>& words) {
        (void)cli::parse_reservation_change(words, model::ReservationUpdate::Action::Update, kNow);
    },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::vector<KeyWord> words;
    for (const std::string_view line : split(fuzz::as_text(data + 1, size - 1), '\n')) {
        words.push_back(cli::split_key_word(line));
        fuzz::must(words.back().typed == line, "a word is repeated as it was typed", line);
    }
    kReaders[data[0] % std::size(kReaders)](words);
    return 0;
}

}  // namespace switchyard
