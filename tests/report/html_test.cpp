// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace parhelion {
namespace {

TEST(Html, text_of_others_is_no_markup)
{
    EXPECT_EQ(escaped("<script>alert('a & \"b\"')</script>"),
              "&lt;script&gt;alert(&#39;a &amp; &quot;b&quot;&#39;)&lt;/script&gt;");
    EXPECT_EQ(escaped("5 µs in Zürich, 水"), "5 µs in Zürich, 水");
}

TEST(Html, what_is_no_text_is_replaced)
{
    EXPECT_EQ(escaped("Z\xfcrich"), "Z\ufffdrich");           // Latin-1
    EXPECT_EQ(escaped("a\x1b[2Jb\x7f"), "a\ufffd[2Jb\ufffd"); // orders for a terminal
    EXPECT_EQ(escaped("a\xc2\x9b"
                      "b"),
              "a\ufffd\ufffd"
              "b");                                           // the same as UTF-8
    EXPECT_EQ(escaped("\xc0\xbc"), "\ufffd\ufffd");           // an overlong "<"
    EXPECT_EQ(escaped("\xed\xa0\x80"), "\ufffd\ufffd\ufffd"); // half of a pair
    EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
    EXPECT_EQ(escaped("\xe6\xb0"), "\ufffd\ufffd"); // cut
    EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "a\ufffd"
                                                    "b");
}

TEST(Html, numbers_have_the_digits_that_their_errors_leave)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(value_text(299.5187, 0.8234), "299.52 ± 0.82");
    EXPECT_EQ(value_text(-32537.51, 16.2), "-32538 ± 16");
    EXPECT_EQ(value_text(-32537.51, 1620), "-32538 ± 1620");
    EXPECT_EQ(value_text(0.00012345, 0.0000067), "0.0001234 ± 0.0000067");
    EXPECT_EQ(value_text(2.2e-7, 1.9e-10), "2.2e-07 ± 1.9e-10");
    EXPECT_EQ(value_text(1.5, none), "1.5");
    EXPECT_EQ(value_text(1.5, 0), "1.5");
    EXPECT_EQ(value_text(none, none), "-");
}

} // namespace
} // namespace parhelion
