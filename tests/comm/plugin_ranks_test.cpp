// SPDX-License-Identifier: Apache-2.0
// Meetings of the ranks of a plugin, which a launcher has started (tests/comm/with_ranks.sh).
#include "comm/ranks.hpp"

using namespace parhelion;

namespace {

class PluginMeeting : public testing::TestWithParam<const char*>
{
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PluginMeeting);

// None where no launcher has started this.
std::vector<const char*> plugins_of_tests()
{
    return plugin_of_tests() != nullptr ? std::vector{plugin_of_tests()} : std::vector<const char*>{};
}

} // namespace

// Who has heard that all are there may move nothing from then on: its own words, of which mailboxes hold little at a time, must
// have gone.
TEST_P(PluginMeeting, is_left_when_the_words_of_who_leaves_have_gone)
{
    PluginRanks& all = PluginOfTests::ranks();
    if (all.ranks() < 2) { GTEST_SKIP() << "needs two processes"; }
    if (GetParam() == std::string_view("mpi-put")) { GTEST_SKIP() << "a put waits for calls of who has left the meeting"; }
    const Shared<std::array<Word, 2>> shared;
    Word& entering = (*shared)[0];
    Word& left = (*shared)[1];
    const auto others = static_cast<Word>(all.ranks() - 1);
    const Network network = all.network(all.ranks());
    if (all.rank() == 0)
    {
        network.bootstrap->put("many words", Bytes(std::size_t{1} << 19));
        EXPECT_TRUE(comes_true([&] { return std::atomic_ref(entering).load() == others; }));
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // until they have said that they are there
    }
    else { std::atomic_ref(entering).fetch_add(1); }
    all.meet();
    if (all.rank() != 0) { std::atomic_ref(left).fetch_add(1); }
    else
    {
        EXPECT_TRUE(comes_true([&] { return std::atomic_ref(left).load() == others; })) << "others wait for words of rank 0";
    }
    EXPECT_TRUE(all.rank() == 0 || network.bootstrap->get("many words"));
    all.meet(); // what the ranks share is complete
}

INSTANTIATE_TEST_SUITE_P(Transports, PluginMeeting, testing::ValuesIn(plugins_of_tests()));
