// SPDX-License-Identifier: Apache-2.0
// The seals of packets. A seal proves that a packet is from the process that greeted, complete, and the next in order. Each
// direction of a connection has its own key, so packets of one direction are not accepted in the other. From that key and the
// packet's number two keys are derived for each packet, one for its head and one for its body. So repeated, delayed or
// reordered packets have wrong seals. Nothing is encrypted.
//
// ChaCha20 derives the keys and Poly1305 computes the seals, as in RFC 8439 (sections 2.5 and 2.6); both are from libsodium.
// Cost: 0.2 us for the keys of a packet and two small seals, and 0.7 us per kB of body (decision 0065).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parhelion {

using SealKey = std::array<unsigned char, 32>;
using Seal = std::array<unsigned char, 16>;

// Computes the seals of one direction of a connection, on either side. The head of a packet is used before its body has come,
// so head and body have a seal each. Without a key all seals are zeros.
class Sealer
{
public:
    explicit Sealer(const std::optional<SealKey>& key) : key_(key) {}

    // Advances to the next packet. It must be called before the first packet, too.
    void begin_packet();
    Seal of_head(std::string_view bytes) const { return seal(0, bytes); }
    Seal of_body(std::string_view bytes) const { return seal(1, bytes); }
    static bool are_equal(const Seal& a, const Seal& b);

private:
    Seal seal(std::size_t part, std::string_view bytes) const;

    std::optional<SealKey> key_;
    std::uint64_t packets_ = 0; // number of packets begun
    std::array<SealKey, 2> of_packet_{};
};

// The keys of the two directions of a connection. There are none if the network is trusted.
struct SealKeys
{
    std::optional<SealKey> sending, receiving;
};

} // namespace parhelion
