// SPDX-License-Identifier: Apache-2.0
// Numbers of partitioned communication and its baselines: how they are taken, kept as JSON lines and shown.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::partitioned_bench {

struct Spread
{
    double mean = 0, deviation = 0, least = 0, most = 0; // us
};

Spread spread_of(const std::vector<double>& us);

constexpr int samples = 10; // of each number

// us by the host's clock: each sample is the mean over as many calls as fit into some milliseconds, none of them the first.
template <class Work>
Spread time_host(const Work& work)
{
    const auto mean_of = [&](int calls) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) { work(); }
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
    };
    constexpr double us_of_sample = 2000;
    mean_of(3);
    const int calls = std::clamp(static_cast<int>(us_of_sample / mean_of(3)), 2, 100);
    std::vector<double> us;
    for (int s = 0; s < samples; ++s) { us.push_back(mean_of(calls)); }
    return spread_of(us);
}

// Says what goes wrong with one way, which leaves the others as they are.
void alone(const char* way, const std::function<void()>& measure);

struct Timed
{
    std::string what;   // the question: "message", "all-reduce"
    std::string method; // the row's way to do it: "peer copy"
    std::size_t bytes;
    int partitions;
    Spread us;
    int multiplier = 0; // of an application's size, as in the paper's figures; 0: it has none
    double flops = 0;   // operations on numbers of one call
};

class Report
{
public:
    explicit Report(std::string json, std::string gpus) : json_(std::move(json)), gpus_(std::move(gpus)) {}

    void add(const Timed& timed); // to the file, too, if there is one
    // For each question and size a row of the least means of all methods, beside the method that all are compared with.
    void print(); // what has been added since it was called

private:
    void print(const std::string& what, const std::vector<std::string>& methods) const;

    std::string json_, gpus_;
    std::vector<Timed> all_; // not printed yet
};

} // namespace parhelion::partitioned_bench
