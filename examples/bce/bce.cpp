// SPDX-License-Identifier: Apache-2.0
// Data-parallel logistic regression: gradient descent on the binary cross-entropy. Each rank, a thread, has a share of the
// samples and a copy of the weights. In an iteration it sums the gradient over its samples and marks it ready piece by piece: a
// partitioned all-reduce adds up the first features over ranks while this rank is at the others. After the second application of
// Temuçin et al., Design and Implementation of MPI-Native GPU-Initiated MPI Partitioned Communication.
//
// bce RANKS [SAMPLES FEATURES ITERATIONS]. Checks the gradient of the last iteration: the same bits on all ranks, that of one
// loop over all samples to rounding, and the slope of the cross-entropy.
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/partitioned/collectives.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using namespace parhelion;

namespace {

constexpr int pieces = 8; // of the gradient
constexpr double rate = 1.0;

struct Samples
{
    int count, features;
    std::vector<double> x, label; // features from -1 to 1, sample after sample; 0 or 1

    Samples(int count_, int features_);
    const double* of(int sample) const { return &x[static_cast<std::size_t>(sample) * static_cast<std::size_t>(features)]; }
    double logit(int sample, const std::vector<double>& weights) const
    {
        double z = 0;
        for (int f = 0; f < features; ++f) { z += weights[static_cast<std::size_t>(f)] * of(sample)[f]; }
        return z;
    }
};

// Labels are drawn with probabilities of this very model, so that there is something to learn and no perfect answer.
Samples::Samples(int count_, int features_) : count(count_), features(features_)
{
    std::mt19937 generator(1);
    const auto uniform = [&] { return generator() * 0x1p-32; };
    std::vector<double> truth(static_cast<std::size_t>(features));
    for (double& weight : truth) { weight = 2 * uniform() - 1; }
    x.resize(static_cast<std::size_t>(count) * truth.size());
    for (double& value : x) { value = 2 * uniform() - 1; }
    for (int i = 0; i < count; ++i) { label.push_back(uniform() < 1 / (1 + std::exp(-logit(i, truth))) ? 1 : 0); }
}

// Samples begin to end.
struct Range
{
    int begin, end;
};

// The derivatives of the samples' cross-entropies by their logits.
std::vector<double> residuals(const Samples& samples, Range range, const std::vector<double>& weights)
{
    std::vector<double> result;
    for (int i = range.begin; i < range.end; ++i)
    {
        result.push_back(1 / (1 + std::exp(-samples.logit(i, weights))) - samples.label[static_cast<std::size_t>(i)]);
    }
    return result;
}

// Of one feature, summed over the range, whose residuals are given.
double gradient_of(const Samples& samples, Range range, const std::vector<double>& residual, int feature)
{
    double sum = 0;
    for (int i = range.begin; i < range.end; ++i)
    {
        sum += residual[static_cast<std::size_t>(i - range.begin)] * samples.of(i)[feature];
    }
    return sum;
}

// What a rank has of the last iteration: the weights that it began with, and the gradient there, summed over all samples.
struct LastIteration
{
    std::vector<double> weights, gradient;
};

LastIteration train(Communicator& comm, const Samples& samples, int iterations)
{
    Partitioned partitioned(comm);
    const auto share = [&](int rank) { return static_cast<int>(static_cast<std::int64_t>(samples.count) * rank / comm.ranks()); };
    const Range mine{share(comm.rank()), share(comm.rank() + 1)};
    const int piece = samples.features / pieces;
    std::vector<double> weights(static_cast<std::size_t>(samples.features)), gradient = weights, before;
    CollectiveRequest sum = pallreduce_init(partitioned, gradient.data(), gradient.data(),
                                            {ElementType::Double, pieces, static_cast<std::size_t>(piece)}, Reduction::Sum);
    for (int i = 0; i < iterations; ++i)
    {
        comm.set_tag(i);
        const std::vector<double> residual = residuals(samples, mine, weights);
        sum.start();
        for (int p = 0; p < pieces; ++p)
        {
            for (int f = p * piece; f < (p + 1) * piece; ++f)
            {
                gradient[static_cast<std::size_t>(f)] = gradient_of(samples, mine, residual, f);
            }
            sum.pready(p);
        }
        before = weights;
        sum.wait();
        for (std::size_t f = 0; f < weights.size(); ++f) { weights[f] -= rate / samples.count * gradient[f]; }
    }
    return {before, gradient};
}

// Of all samples: - sum of y log(s) + (1 - y) log(1 - s), s = 1 / (1 + exp(-z)), in a form that does not overflow.
double cross_entropy(const Samples& samples, const std::vector<double>& weights)
{
    double sum = 0;
    for (int i = 0; i < samples.count; ++i)
    {
        const double z = samples.logit(i, weights);
        sum += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - samples.label[static_cast<std::size_t>(i)] * z;
    }
    return sum;
}

void check(const Samples& samples, const std::vector<LastIteration>& of_ranks)
{
    const auto& [weights, gradient] = of_ranks[0];
    for (const LastIteration& other : of_ranks)
    {
        if (other.weights != weights || other.gradient != gradient) { throw std::runtime_error("ranks have different bits"); }
    }
    const Range all{0, samples.count};
    const std::vector<double> residual = residuals(samples, all, weights);
    double square = 0;
    for (int f = 0; f < samples.features; ++f)
    {
        const double sum = gradient[static_cast<std::size_t>(f)];
        double size = 0;
        for (int i = 0; i < samples.count; ++i) { size += std::abs(residual[static_cast<std::size_t>(i)] * samples.of(i)[f]); }
        // Two sums of the same terms in different orders: each addition of either rounds by half of this at the most.
        const double rounding = samples.count * std::numeric_limits<double>::epsilon() * size;
        if (!(std::abs(sum - gradient_of(samples, all, residual, f)) <= rounding))
        {
            throw std::runtime_error("not the gradient of one loop over all samples");
        }
        square += sum * sum;
    }
    // Along the gradient the slope is its square; what the difference neglects is of the step's square.
    const double step = 1e-5 / std::sqrt(square);
    std::vector<double> ahead = weights, behind = weights;
    for (std::size_t f = 0; f < weights.size(); ++f) { ahead[f] += step * gradient[f], behind[f] -= step * gradient[f]; }
    const double slope = (cross_entropy(samples, ahead) - cross_entropy(samples, behind)) / (2 * step);
    const double at_first = cross_entropy(samples, std::vector<double>(weights.size())),
                 at_last = cross_entropy(samples, weights);
    std::printf("cross-entropy %.4f, at first %.4f; slope %.6g, gradient squared %.6g\n", at_last / samples.count,
                at_first / samples.count, slope, square);
    if (!(std::abs(slope - square) < 1e-4 * square)) { throw std::runtime_error("not the slope of the cross-entropy"); }
    if (!(at_last < 0.9 * at_first)) { throw std::runtime_error("nothing learned: more iterations?"); }
}

} // namespace

int main(int argc, char** argv)
{
    const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    const int ranks = number(1, 4), count = number(2, 4000), features = number(3, 256), iterations = number(4, 40);
    if (argc > 5 || ranks < 1 || count < ranks || features < pieces || features % pieces != 0 || iterations < 1)
    {
        std::fprintf(stderr, "usage: %s RANKS [SAMPLES FEATURES ITERATIONS]; FEATURES is a multiple of %d\n", argv[0], pieces);
        return 2;
    }
    try
    {
        const Samples samples(count, features);
        std::vector<LastIteration> of_ranks(static_cast<std::size_t>(ranks));
        World world(thread_network(ranks));
        const auto begin = std::chrono::steady_clock::now();
        run_ranks(world, [&](Communicator& comm) {
            of_ranks[static_cast<std::size_t>(comm.rank())] = train(comm, samples, iterations);
        });
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        std::printf("%d ranks, %d samples of %d features: %.1f us an iteration\n", ranks, count, features,
                    took.count() / iterations);
        check(samples, of_ranks);
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "bce: %s\n", error.what());
        return 1;
    }
    return 0;
}
