// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/allocations.hpp"

#include "comm/partitioned/partitioned.hpp"

#include <fmt/format.h>

namespace parhelion {

void Allocations::add(const std::byte* begin, std::size_t bytes) { pieces_[begin] = {bytes, std::make_shared<const char>()}; }

void Allocations::remove(const std::byte* begin, std::size_t bytes)
{
    const auto piece = pieces_.find(begin);
    if (piece == pieces_.end())
    {
        throw PartitionedError(Misuse::BadArgument, fmt::format("Symmetric memory: no allocation begins at {}. It is not from "
                                                                "an allocation, or has been released before.",
                                                                static_cast<const void*>(begin)));
    }
    if (piece->second.bytes != bytes)
    {
        throw PartitionedError(Misuse::BadArgument, fmt::format("Symmetric memory: the allocation at {} has {} bytes, not {}. It "
                                                                "can be released as a whole only.",
                                                                static_cast<const void*>(begin), piece->second.bytes, bytes));
    }
    if (const long users = piece->second.users.use_count() - 1; users > 0)
    {
        throw PartitionedError(Misuse::InUse, fmt::format("Symmetric memory: the allocation of {} bytes at {} is in use by {} "
                                                          "request{}. Free {} first.",
                                                          bytes, static_cast<const void*>(begin), users, users == 1 ? "" : "s",
                                                          users == 1 ? "it" : "them"));
    }
    pieces_.erase(piece);
}

const Allocations::Piece* Allocations::find(const std::byte* begin, std::size_t bytes) const
{
    const auto after = pieces_.upper_bound(begin);
    if (after == pieces_.begin()) { return nullptr; }
    const auto& [first, piece] = *std::prev(after);
    const auto offset = reinterpret_cast<std::uintptr_t>(begin) - reinterpret_cast<std::uintptr_t>(first);
    return offset <= piece.bytes && bytes <= piece.bytes - offset ? &piece : nullptr;
}

Allocations::Use Allocations::use(const std::byte* begin, std::size_t bytes) const
{
    const Piece* const piece = bytes > 0 ? find(begin, bytes) : nullptr;
    return piece != nullptr ? piece->users : nullptr;
}

bool Allocations::holds(const std::byte* begin, std::size_t bytes) const { return bytes == 0 || find(begin, bytes) != nullptr; }

} // namespace parhelion
