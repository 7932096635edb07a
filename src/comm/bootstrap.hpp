// SPDX-License-Identifier: Apache-2.0
// How ranks find each other. A bootstrap says which ranks take part and carries a few bytes between ranks that do not reach each
// other's memory yet. With it they find each other's arenas and the ends of channels. Nothing else asks whether a peer is a
// thread of this process, another process, or on another host. It serves the setup, not the step.
//
// An implementation is one file of bootstraps/. All calls may come from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using Bytes = std::vector<std::byte>;

class Bootstrap
{
public:
    virtual ~Bootstrap() = default;

    virtual int ranks() const = 0;
    // Leaves bytes for whoever asks by this key, which nobody has used before (ContractError).
    virtual void put(const std::string& key, Bytes value) = 0;
    // What was left under the key, or nothing yet. What its writer did before is then visible.
    virtual std::optional<Bytes> get(const std::string& key) = 0;
    // Pages of memory that all ranks reach who ask by this key and size; null where this rank does not. Zero at first, address
    // space until touched, there until the bootstrap ends. Throws SystemError.
    virtual std::byte* pages(const std::string& key, std::size_t bytes) = 0;
};

} // namespace parhelion
