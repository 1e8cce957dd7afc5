// base/text: bytes of any kind in, valid UTF-8 out. Expected values of repair and trim are what
// Python's decode("utf-8", "replace") and str.strip() give.
#include "base/text.h"

#include <gtest/gtest.h>

namespace transcribe {
namespace {

TEST(Text, CompletePrefixStopsBeforeACutCharacter) {
    EXPECT_EQ(utf8_complete_prefix(""), 0u);
    EXPECT_EQ(utf8_complete_prefix("abc"), 3u);
    EXPECT_EQ(utf8_complete_prefix("a\xC3"), 1u);
    EXPECT_EQ(utf8_complete_prefix("a\xC3\xA9"), 3u);
    EXPECT_EQ(utf8_complete_prefix("\xE2\x82"), 0u);
    EXPECT_EQ(utf8_complete_prefix("abcd\xF0\x9F\x91"), 4u);
    EXPECT_EQ(utf8_complete_prefix("abcd\xF0\x9F\x91\x8D"), 8u);
}

TEST(Text, CompletePrefixDoesNotWaitForWhatCanNeverBeValid) {
    EXPECT_EQ(utf8_complete_prefix("a\xFF"), 2u);
    EXPECT_EQ(utf8_complete_prefix("a\x80\x80"), 3u);
    EXPECT_EQ(utf8_complete_prefix("\xE0\x80"), 2u);  // overlong
    EXPECT_EQ(utf8_complete_prefix("\xED\xA0"), 2u);  // surrogate
}

TEST(Text, RepairReplacesEachBrokenPartOnce) {
    EXPECT_EQ(utf8_repair("plain \u00E9 \u20AC"), "plain \u00E9 \u20AC");
    EXPECT_EQ(utf8_repair("\xE2\x82"), "\uFFFD");
    EXPECT_EQ(utf8_repair("\xE2\x82x"), "\uFFFDx");
    EXPECT_EQ(utf8_repair("\xF0\x9F\x91"), "\uFFFD");
    EXPECT_EQ(utf8_repair("\x80\x80"), "\uFFFD\uFFFD");
    EXPECT_EQ(utf8_repair("\xE0\x80"), "\uFFFD\uFFFD");
    EXPECT_EQ(utf8_repair("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(utf8_repair("\xC3\xC3\xA9"), "\uFFFD\u00E9");
}

TEST(Text, PrintableShowsControlAndBrokenBytes) {
    EXPECT_EQ(printable("a\nb\xFF\x7F\u00E9"), "a\\x0ab\\xff\\x7f\u00E9");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
}

TEST(Text, TrimKnowsUnicodeWhiteSpace) {
    EXPECT_EQ(trim(" \t\r\n a b \v\f"), "a b");
    EXPECT_EQ(trim("\u3000\u00A0a\u2003\u2028\u0085"), "a");
    EXPECT_EQ(trim("\x1C"
                   "a\x1F"),
              "a");
    EXPECT_EQ(trim("\u3000 \u1680\u205F\u202F"), "");
    EXPECT_EQ(trim("\u200Ba\uFEFF"), "\u200Ba\uFEFF");  // of no width, but not white space
    EXPECT_EQ(trim("\x80\xA0"), "\x80\xA0");
    EXPECT_EQ(trim(""), "");
}

}  // namespace
}  // namespace transcribe
