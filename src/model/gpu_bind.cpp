#include "model/gpu_bind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr std::uint32_t kCardsMax = 1024, kRepeatMax = 65536;

Failure bad(std::string_view text) {
    return fail(Errc::InvalidArgument, fmt::format("cannot read \"{}\"", text));
}

Result<std::uint32_t> parse_count(std::string_view text, std::uint32_t max) {
    const auto number = parse_uint(text);
    if (!number || *number == 0 || *number > max) return bad(text);
    return static_cast<std::uint32_t>(*number);
}

// "0x3", "c": bits of card numbers, the last digit first.
Result<IndexSet> parse_mask(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    IndexSet cards;
    if (digits.empty() || digits.size() > kCardsMax / 4) return bad(text);
    for (std::uint32_t bit = 0; !digits.empty(); bit += 4, digits.remove_suffix(1)) {
        const char c = digits.back();
        const int value = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (value < 0) return bad(text);
        for (std::uint32_t k = 0; k < 4; ++k) {
            if ((value >> k & 1) != 0) cards.insert(bit + k);
        }
    }
    return cards;
}

// "0*4,1*4": what stands before the '*' so many times.
Result<std::vector<IndexSet>> parse_list(std::string_view text, bool masks) {
    std::vector<IndexSet> list;
    for (std::string_view piece : split(text, ',')) {
        std::uint32_t times = 1;
        if (const auto star = piece.find('*'); star != std::string_view::npos) {
            SY_TRY(times, parse_count(piece.substr(star + 1), kRepeatMax));
            piece = piece.substr(0, star);
        }
        IndexSet cards;
        if (masks) {
            SY_TRY(cards, parse_mask(piece));
        } else {
            const auto card = parse_uint(piece);
            if (!card || *card >= kCardsMax) return bad(piece);
            cards.insert(static_cast<std::uint32_t>(*card));
        }
        if (list.size() + times > kRepeatMax) return bad(text);
        list.insert(list.end(), times, cards);
    }
    if (list.empty()) return bad(text);
    return list;
}

}  // namespace

Result<GpuBind> parse_gpu_bind(std::string_view text) {
    GpuBind bind;
    std::string_view type = text;
    for (const std::string_view word : {"verbose", "v"}) {
        if (type != word && !type.starts_with(std::string(word) + ",")) continue;
        bind.verbose = true;
        type.remove_prefix(std::min(type.size(), word.size() + 1));
        break;
    }
    using Kind = GpuBind::Kind;
    const auto rest = [&](std::string_view word) { return type.substr(word.size()); };
    if (type.empty() && bind.verbose) return bind;
    if (type == "none") return bind;
    if (type == "closest") {
        bind.kind = Kind::Closest;
    } else if (type.starts_with("map_gpu:") || type.starts_with("map:")) {
        bind.kind = Kind::Map;
        SY_TRY(bind.list, parse_list(type.substr(type.find(':') + 1), false));
    } else if (type.starts_with("mask_gpu:") || type.starts_with("mask:")) {
        bind.kind = Kind::Mask;
        SY_TRY(bind.list, parse_list(type.substr(type.find(':') + 1), true));
    } else if (type.starts_with("per_task:")) {
        bind.kind = Kind::PerTask;
        SY_TRY(bind.count, parse_count(rest("per_task:"), kCardsMax));
    } else if (type.starts_with("single:")) {
        bind.kind = Kind::Single;
        SY_TRY(bind.count, parse_count(rest("single:"), kRepeatMax));
    } else {
        return bad(text);
    }
    return bind;
}

bool is_gpu_bind(std::string_view text) { return bool(parse_gpu_bind(text)); }

std::vector<std::vector<std::uint32_t>> assign_gpus(const GpuBind& bind,
                                                    const std::vector<BindableCard>& cards,
                                                    std::uint32_t tasks,
                                                    const std::vector<IndexSet>& task_cores) {
    std::vector<std::uint32_t> all(cards.size());
    std::iota(all.begin(), all.end(), 0u);
    std::vector<std::vector<std::uint32_t>> result;
    for (std::uint32_t task = 0; task < tasks; ++task) {
        const IndexSet cores = task < task_cores.size() ? task_cores[task] : IndexSet();
        const auto is_near = [&](std::uint32_t at) {
            return cores.empty() || cards[at].cores.empty() || cards[at].cores.intersects(cores);
        };
        std::vector<std::uint32_t> own;
        switch (bind.kind) {
            case GpuBind::Kind::None:
                break;
            case GpuBind::Kind::Closest:
                std::ranges::copy_if(all, std::back_inserter(own), is_near);
                break;
            case GpuBind::Kind::Map:
            case GpuBind::Kind::Mask:
                std::ranges::copy_if(all, std::back_inserter(own), [&](std::uint32_t at) {
                    return bind.list[task % bind.list.size()].contains(cards[at].number);
                });
                break;
            case GpuBind::Kind::PerTask:
                for (std::uint32_t k = 0; k < bind.count && k < all.size(); ++k)
                    own.push_back(all[(task * bind.count + k) % all.size()]);
                break;
            case GpuBind::Kind::Single: {
                std::ranges::copy_if(all, std::back_inserter(own), is_near);
                if (own.empty()) own = all;
                if (!own.empty()) own = {own[task / bind.count % own.size()]};
                break;
            }
        }
        std::ranges::sort(own);
        result.push_back(own.empty() ? all : own);
    }
    return result;
}

}  // namespace switchyard::model
