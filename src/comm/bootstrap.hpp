// SPDX-License-Identifier: Apache-2.0
// How ranks find each other. A bootstrap says which ranks take part and carries a few bytes between ranks that do not reach each
// other's memory yet. With it they find each other's arenas and the ends of channels. Nothing else asks whether a peer is a
// thread of this process, another process, or on another host. It serves the setup, not the step.
//
// An implementation is one file of bootstraps/. All calls may come from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using Bytes = std::vector<std::byte>;

// Neighbouring ranks.
struct RankRange
{
    int first = 0;
    int count = 0;
};

class Bootstrap
{
public:
    virtual ~Bootstrap() = default;

    virtual int ranks() const = 0;
    // Those that are threads of this process.
    virtual RankRange here() const = 0;
    // Leaves bytes for whoever asks by this key, which nobody has used before (ContractError).
    virtual void put(const std::string& key, Bytes value) = 0;
    // What was left under the key, or nothing yet. What its writer did before is then visible; what it did later may be so
    // earlier.
    virtual std::optional<Bytes> get(const std::string& key) = 0;
    // Pages of memory that all ranks reach who ask by this key and size; null where this rank does not. Zero at first, address
    // space until touched, there until the bootstrap ends. Throws SystemError.
    virtual std::byte* pages(const std::string& key, std::size_t bytes) = 0;

    // Is told, once and from any thread, that ranks elsewhere have ended too early, in a sentence that names them.
    using OnLoss = std::function<void(const std::string& sentence)>;
    // Replaces the one before, which is not called any more when this returns; empty: nobody is told.
    virtual void on_loss(OnLoss listener) = 0;
};

} // namespace parhelion
