// Goal: fields are read as protobuf wrote them, and nothing is read behind the end. Method: numbers
// of every size, each at the end of its bytes and with more behind it; then the same cut short.
#include "wire/fields.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace switchyard::wire {
namespace {

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
    return bytes + static_cast<char>(value);
}

std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> all{0, std::numeric_limits<std::uint64_t>::max()};
    for (int bits = 0; bits < 64; ++bits) {
        const std::uint64_t power = std::uint64_t{1} << bits;
        all.insert(all.end(), {power - 1, power, power + 1, power | 0x5555});
    }
    return all;
}

TEST(Fields, NumbersOfEverySizeAreRead) {
    for (const std::uint64_t number : numbers()) {
        for (const std::string behind : {"", "\x10\x01", "\x12\x07letters"}) {
            const std::string bytes = varint(70 << 3) + varint(number) + behind;
            Fields fields(bytes);
            Field field;
            ASSERT_TRUE(fields.next(field));
            EXPECT_EQ(field.number, 70u);
            EXPECT_EQ(field.varint, number);
            EXPECT_FALSE(field.is_bytes);
            EXPECT_EQ(field.whole, bytes.substr(0, bytes.size() - behind.size()));
            EXPECT_EQ(fields.next(field), !behind.empty());
            EXPECT_TRUE(fields.ok());
        }
    }
}

TEST(Fields, TextAndFixedNumbersArePassed) {
    const std::string bytes = varint(3 << 3 | 2) + varint(200) + std::string(200, 'x') + "\x0d" +
                              "1234" + "\x11" + "12345678";
    Fields fields(bytes);
    Field field;
    ASSERT_TRUE(fields.next(field));
    EXPECT_TRUE(field.is_bytes);
    EXPECT_EQ(field.value, std::string(200, 'x'));
    ASSERT_TRUE(fields.next(field));
    EXPECT_EQ(field.value, "1234");
    ASSERT_TRUE(fields.next(field));
    EXPECT_EQ(field.value, "12345678");
    EXPECT_FALSE(fields.next(field));
    EXPECT_TRUE(fields.ok());
}

TEST(Fields, WhatIsCutShortOrMalformedIsTold) {
    const auto is_read = [](std::string_view bytes) {
        const std::string exact(bytes);  // Of its own memory: sanitizers see what is read behind.
        Fields fields(exact);
        for (Field field; fields.next(field);) continue;
        return fields.ok();
    };
    const std::string text = varint(3 << 3 | 2) + varint(300) + std::string(300, 'x');
    const std::string number = varint(70 << 3) + varint(std::uint64_t{1} << 45);
    for (const std::string& whole : {text, number}) {
        EXPECT_TRUE(is_read(whole));
        for (std::size_t size = 1; size < whole.size(); ++size)
            EXPECT_FALSE(is_read(whole.substr(0, size))) << size;
    }
    EXPECT_FALSE(is_read("\x08" + std::string(20, '\xff'))) << "a number without end";
    EXPECT_FALSE(is_read("\x0b")) << "a kind that is not used";
    EXPECT_FALSE(is_read("\x0a" + varint(std::numeric_limits<std::uint64_t>::max())));
}

}  // namespace
}  // namespace switchyard::wire
