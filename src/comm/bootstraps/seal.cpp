// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/seal.hpp"

#include <cstring>
#include <sodium.h>

namespace parhelion {

static_assert(crypto_stream_chacha20_KEYBYTES == std::tuple_size_v<SealKey>);
static_assert(crypto_onetimeauth_KEYBYTES == std::tuple_size_v<SealKey>);
static_assert(crypto_onetimeauth_BYTES == std::tuple_size_v<Seal>);

void Sealer::begin_packet()
{
    if (!key_) { return; }
    unsigned char number[crypto_stream_chacha20_NONCEBYTES];
    static_assert(sizeof number == sizeof packets_);
    std::memcpy(number, &packets_, sizeof number);
    ++packets_;
    ::crypto_stream_chacha20(of_packet_[0].data(), sizeof of_packet_, number, key_->data());
}

Seal Sealer::seal(std::size_t part, std::string_view bytes) const
{
    Seal seal{};
    if (!key_) { return seal; }
    ::crypto_onetimeauth(seal.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                         of_packet_[part].data());
    return seal;
}

bool Sealer::are_equal(const Seal& a, const Seal& b) { return ::crypto_verify_16(a.data(), b.data()) == 0; }

} // namespace parhelion
