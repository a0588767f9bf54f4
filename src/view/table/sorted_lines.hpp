// sorted_lines.hpp: printed lines that wait for the order they come out in. A list of a hundred
// thousand jobs is held as text and keys, a tenth of what its records would take, in a few large
// pieces of memory. Texts stand beside texts: a list that comes in the order it is shown in, as
// most do, is printed as it stands, and its keys are never looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/append_in_place.hpp"
#include "view/table/order_key.hpp"

namespace switchyard::view {

class SortedLines {
  public:
    // `write_key` adds to the key it is given, `write_text` appends the line to its string.
    template <class WriteKey, class WriteText>
    void add(WriteKey write_key, WriteText write_text) {
        OrderKey& key = keys_[count_ % 2];
        key.clear();
        write_key(key);
        in_order_ = in_order_ && (count_ == 0 || keys_[(count_ + 1) % 2].bytes() < key.bytes());
        std::string& texts = block_of(texts_);
        const std::size_t before = texts.size();
        write_text(texts);
        append_entry(block_of(entries_), key.bytes(), texts.size() - before);
        ++count_;
    }
    std::size_t count() const { return count_; }

    // All lines in order, given to `print` in pieces of one or many.
    template <class Print>
    void take(Print print) {
        if (in_order_) {
            for (const std::string& block : texts_) print(std::string_view(block));
        } else {
            for (const Line& line : sorted()) print(line.text);
        }
        *this = {};
    }

  private:
    static constexpr std::size_t kBlockBytes = 256u << 10;
    static constexpr std::size_t kLineBytes = 4096;  // A longer one makes its block grow.
    struct Sizes {
        std::uint32_t key, text;
    };
    struct Line {
        std::string_view key, text;
        // Equal keys: by text, so the order is always the same.
        auto operator<=>(const Line&) const = default;
    };

    // Goes through what was appended to blocks, piece by piece.
    class Reader {
      public:
        explicit Reader(const std::vector<std::string>& blocks) : blocks_(blocks) {}
        std::string_view next(std::size_t size) {
            while (at_ == blocks_[block_].size() && block_ + 1 < blocks_.size()) {
                ++block_;
                at_ = 0;
            }
            const std::string_view piece = std::string_view(blocks_[block_]).substr(at_, size);
            at_ += size;
            return piece;
        }

      private:
        const std::vector<std::string>& blocks_;
        std::size_t block_ = 0, at_ = 0;
    };

    static std::string& block_of(std::vector<std::string>& blocks) {
        if (blocks.empty() || blocks.back().size() > kBlockBytes - kLineBytes)
            blocks.emplace_back().reserve(kBlockBytes);
        return blocks.back();
    }
    static void append_entry(std::string& block, std::string_view key, std::size_t text_size) {
        const Sizes sizes{static_cast<std::uint32_t>(key.size()),
                          static_cast<std::uint32_t>(text_size)};
        append_in_place(block, sizeof sizes + key.size(), [&](char* at) {
            std::memcpy(at, &sizes, sizeof sizes);
            std::memcpy(at + sizeof sizes, key.data(), key.size());
            return at + sizeof sizes + key.size();
        });
    }

    std::vector<Line> sorted() const {
        std::vector<Line> lines;
        lines.reserve(count_);
        Reader entries(entries_), texts(texts_);
        for (std::size_t i = 0; i < count_; ++i) {
            Sizes sizes{};
            std::memcpy(&sizes, entries.next(sizeof sizes).data(), sizeof sizes);
            const std::string_view key = entries.next(sizes.key);
            lines.push_back({key, texts.next(sizes.text)});
        }
        std::ranges::sort(lines);
        return lines;
    }

    std::vector<std::string> texts_, entries_;
    std::size_t count_ = 0;
    bool in_order_ = true;  // Up to now each key was greater than the one before.
    OrderKey keys_[2];      // The last, and the one before.
};

}  // namespace switchyard::view
