// What users typed is shown so that no terminal acts on it, no line breaks, and nothing is lost.
#include "base/visible.hpp"

#include <gtest/gtest.h>

#include <random>

namespace switchyard {
namespace {

TEST(Visible, OrdinaryTextsStandAsTheyAre) {
    for (const std::string_view text :
         {"", "train", "a b/c-d_e", "C:\\work", "über", "名前", "a|b", "\\n", "\\09", "🙂"}) {
        EXPECT_EQ(visible(text), text);
    }
}

TEST(Visible, ControlCharactersAreNumbers) {
    EXPECT_EQ(visible("a\nb"), "a\\012b");
    EXPECT_EQ(visible("\x1b[2J"), "\\033[2J");
    EXPECT_EQ(visible("\t\r\x7f"), "\\011\\015\\177");
    EXPECT_EQ(visible(std::string_view("\0", 1)), "\\000");
}

TEST(Visible, ControlCharactersOfUnicodeAreNumbersToo) {
    EXPECT_EQ(visible("\u009b2J"), "\\302\\2332J");  // CSI of eight bits, in UTF-8.
    EXPECT_EQ(visible("a\x9b"
                      "b"),
              "a\\233b");                                 // And as a stray byte.
    EXPECT_EQ(visible("a\u2028b"), "a\\342\\200\\250b");  // A line separator.
    EXPECT_EQ(visible("a\u202eb"), "a\\342\\200\\256b");  // Writing to the left.
    EXPECT_EQ(visible("\xe4\xf6"), "\xe4\xf6");           // Latin-1 letters.
    EXPECT_EQ(visible("\xe2\x80"), "\xe2\\200");          // Cut in the middle.
}

TEST(Visible, ABackslashThatWouldReadAsANumberIsOne) {
    EXPECT_EQ(visible("\\012"), "\\134012");
    EXPECT_EQ(visible("\\\n"), "\\\\012");
}

TEST(Visible, WhatSeparatesIsNoPartOfACell) {
    EXPECT_EQ(visible("a|b", "|"), "a\\174b");
    EXPECT_EQ(visible("ab", "|"), "ab");
}

TEST(Visible, MessagesKeepTheirLines) {
    EXPECT_EQ(visible_lines("a\n\tb\x1b"), "a\n\tb\\033");
    EXPECT_EQ(visible_lines("a\nb"), "a\nb");
}

TEST(Visible, PlainIsPrintableAscii) {
    EXPECT_TRUE(is_plain("train 12 (x)"));
    EXPECT_TRUE(is_plain(""));
    for (const std::string_view text : {"a\n", "\x1b", "\x7f", "ü", "\\"})
        EXPECT_FALSE(is_plain(text));
}

// The text that a form stands for.
std::string undone(std::string_view form) {
    std::string text;
    for (std::size_t at = 0; at < form.size(); ++at) {
        const auto digit = [&](std::size_t i) {
            return at + i < form.size() && form[at + i] >= '0' && form[at + i] <= '7';
        };
        if (form[at] != '\\' || !digit(1) || !digit(2) || !digit(3)) {
            text += form[at];
            continue;
        }
        text += static_cast<char>((form[at + 1] - '0') * 64 + (form[at + 2] - '0') * 8 +
                                  (form[at + 3] - '0'));
        at += 3;
    }
    return text;
}

TEST(Visible, EveryTextCanBeHadBack) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr std::string_view kPieces[] = {"\\", "0",    "1",    "7",    "\n",   "|",      "a",
                                            "8",  "\x1b", "\xc2", "\x9b", "\xe2", "\u202e", " "};
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (unsigned i = random() % 12; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
        const std::string form = visible(text, "|");
        EXPECT_EQ(undone(form), text) << form;
        EXPECT_EQ(form.find_first_of("|\n\x1b"), std::string::npos) << form;
    }
}

TEST(WithoutControlCharacters, HasAMarkInThePlaceOfEach) {
    EXPECT_EQ(without_control_characters("a\nBcc: b\x7f"), "a?Bcc: b?");
    EXPECT_EQ(without_control_characters("\xc3\xa4 \\012"), "\xc3\xa4 \\012");
    EXPECT_TRUE(has_control_characters("a\tb"));
    EXPECT_FALSE(has_control_characters("a b"));
}

}  // namespace
}  // namespace switchyard
