// SPDX-License-Identifier: Apache-2.0
// Which cores ranks get. Other runs of this host, tests among them, claim cores, too: what needs a free one waits for it.
#include "comm/launch/own_cores.hpp"

#include "comm/c/parhelion_comm.h"
#include "device/cores.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace parhelion;

namespace {

// Cores c and c + n / 2 are one, as on most servers; or 2 c and 2 c + 1, as in virtual machines.
std::vector<int> apart(int core, int n) { return {core % (n / 2), core % (n / 2) + n / 2}; }
std::vector<int> beside(int core) { return {core / 2 * 2, core / 2 * 2 + 1}; }

std::vector<int> own_mask() { return cores_of(pthread_self()); }

// Asks until it is so; false if others keep the cores for a minute.
bool once_cores_are_free(const std::function<bool()>& is_so)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_so())
    {
        if (std::chrono::steady_clock::now() > end) { return false; }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

// A rank's program: 0 if each of two has cores, and none of the other's; 9 if it is where its caller was.
int is_on_own_core(ph_comm* comm, void* caller)
{
    const std::vector<int> mask = own_mask();
    if (mask == *static_cast<const std::vector<int>*>(caller)) { return 9; }
    std::vector<float> both(CPU_SETSIZE);
    for (const int core : mask) { both[static_cast<std::size_t>(core)] = 1; }
    ph_request* sum = nullptr;
    if (ph_pallreduce_init(comm, both.data(), both.data(), 1, both.size(), PH_FLOAT, PH_SUM, &sum) != 0) { return 1; }
    if (ph_start(sum) != 0 || ph_pready(sum, 0) != 0 || ph_wait(sum) != 0 || ph_free(&sum) != 0) { return 2; }
    return std::count(both.begin(), both.end(), 2.0F) == 0 ? 0 : 3;
}
int is_anywhere(ph_comm*, void* caller) { return own_mask() == *static_cast<const std::vector<int>*>(caller) ? 0 : 1; }

} // namespace

TEST(OwnCores, of_a_second_hyper_thread_come_after_all_first_ones)
{
    EXPECT_EQ(order_of_cores({0, 1, 2, 3, 4, 5}, [](int core) { return apart(core, 6); }), (std::vector{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(order_of_cores({0, 1, 2, 3, 4, 5}, beside), (std::vector{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(order_of_cores({1, 2, 3, 4}, beside), (std::vector{1, 2, 4, 3})) << "core 1 is alone: 0 is not allowed";
    EXPECT_EQ(order_of_cores({7, 3}, [](int) { return std::vector<int>{}; }), (std::vector{3, 7})) << "the system does not say";
}

TEST(OwnCores, are_read_as_the_kernel_writes_lists)
{
    EXPECT_EQ(cores_of_list("0,64"), (std::vector{0, 64}));
    EXPECT_EQ(cores_of_list("2-4,9"), (std::vector{2, 3, 4, 9}));
    EXPECT_EQ(cores_of_list("5"), (std::vector{5}));
    EXPECT_EQ(cores_of_list(""), std::vector<int>{});
}

TEST(OwnCores, are_all_or_none)
{
    const OwnCores too_many(static_cast<int>(own_mask().size()) + 1), nobody(0);
    EXPECT_TRUE(too_many.cores(0).empty());
    EXPECT_TRUE(nobody.cores(0).empty());
    EXPECT_TRUE(once_cores_are_free([] {
        const OwnCores all(available_cores());
        std::set<int> seen;
        for (int n = 0; n < available_cores(); ++n)
        {
            for (const int core : all.cores(n)) { EXPECT_TRUE(seen.insert(core).second) << "two have core " << core; }
        }
        return !seen.empty();
    }));
}

TEST(OwnCores, come_with_an_equal_part_of_the_others)
{
    const std::size_t all = own_mask().size();
    EXPECT_TRUE(once_cores_are_free([&] {
        const OwnCores one(1);
        return one.cores(0).size() == all; // nobody else has any
    }));
    if (available_cores() < 2) { GTEST_SKIP() << "one core"; }
    EXPECT_TRUE(once_cores_are_free([&] {
        const OwnCores two(2);
        return two.cores(0).size() == all / 2 && two.cores(1).size() == all / 2;
    }));
}

TEST(OwnCores, are_not_those_of_another_run_until_its_last_process_has_ended)
{
    const StayOnCores only({own_mask().front()});
    std::unique_ptr<OwnCores> first;
    ASSERT_TRUE(once_cores_are_free([&] {
        first = std::make_unique<OwnCores>(1);
        return first->cores(0) == own_mask();
    }));
    EXPECT_TRUE(OwnCores(1).cores(0).empty());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0)
    {
        char told = 0;
        close(ends[1]);
        static_cast<void>(!read(ends[0], &told, 1)); // until the other end is closed
        _exit(0);
    }
    first.reset();
    EXPECT_TRUE(OwnCores(1).cores(0).empty()) << "a process of the run is still there";
    close(ends[1]);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(once_cores_are_free([] { return !OwnCores(1).cores(0).empty(); }));
}

TEST(OwnCores, are_left_as_they_were_found)
{
    const std::vector<int> before = own_mask();
    {
        const StayOnCores there({before.back()});
        EXPECT_EQ(own_mask(), std::vector{before.back()});
        const StayOnCores nowhere({});
        EXPECT_EQ(own_mask(), std::vector{before.back()});
    }
    EXPECT_EQ(own_mask(), before);
}

TEST(OwnCores, are_those_of_ranks_of_the_c_interface)
{
    if (available_cores() < 2) { GTEST_SKIP() << "one core"; }
    std::vector<int> before = own_mask();
    for (const int processes : {0, 2})
    {
        EXPECT_TRUE(once_cores_are_free([&] {
            const int code = ph_run(2, processes, 30, is_on_own_core, &before);
            EXPECT_TRUE(code == PH_SUCCESS || std::string(ph_error_message()).ends_with(" returned 9.")) << ph_error_message();
            return code == PH_SUCCESS;
        })) << "other runs had them all the time";
        EXPECT_EQ(own_mask(), before);
        ph_options options{};
        options.size = sizeof options;
        options.bind = PH_BIND_NONE;
        EXPECT_EQ(ph_run_with(2, processes, &options, is_anywhere, &before), PH_SUCCESS) << ph_error_message();
    }
    const int too_many = static_cast<int>(before.size()) + 1;
    EXPECT_EQ(ph_run(too_many, 0, 30, is_anywhere, &before), PH_SUCCESS) << ph_error_message();
}
