// SPDX-License-Identifier: Apache-2.0
// The seals of packets: that a packet is from who has greeted, that it is whole, and that it is the next one. Each direction of a
// connection has a key of its own, so nothing that was sent one way is taken for the other, and each packet has two keys of its
// own, for its head and its body, made of that key and the number of the packet: what comes twice, late or in another order has
// the wrong seal. Nothing is encrypted.
//
// ChaCha20 makes the keys and Poly1305 the seals, as RFC 8439 (sections 2.5 and 2.6) has them; both are libsodium's. Cost: 0.2 us
// for the keys of a packet and two small seals, and 0.7 us for each kB of a body (decision 0065).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parhelion {

using SealKey = std::array<unsigned char, 32>;
using Seal = std::array<unsigned char, 16>;

// The seals of one direction, for either side. A packet's head is looked at, and what it says is believed, before its body has
// come: each has a seal. Without a key all seals are zeros.
class Sealer
{
public:
    explicit Sealer(const std::optional<SealKey>& key) : key_(key) {}

    // Goes on to the next packet; to the first one, too.
    void begin_packet();
    Seal of_head(std::string_view bytes) const { return seal(0, bytes); }
    Seal of_body(std::string_view bytes) const { return seal(1, bytes); }
    static bool are_equal(const Seal& a, const Seal& b);

private:
    Seal seal(std::size_t part, std::string_view bytes) const;

    std::optional<SealKey> key_;
    std::uint64_t packets_ = 0; // begun
    std::array<SealKey, 2> of_packet_{};
};

// Those of a connection; none where the network is trusted.
struct SealKeys
{
    std::optional<SealKey> sending, receiving;
};

} // namespace parhelion
