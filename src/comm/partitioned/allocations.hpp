// SPDX-License-Identifier: Apache-2.0
// The pieces of a rank's symmetric memory that callers have allocated, and how many requests use each piece. So only allocated
// pieces are released, and none that a request may still write to. Cost: a search among the pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>

namespace parhelion {

class Allocations
{
public:
    // Marks a piece as in use, for as long as the object lives.
    using Use = std::shared_ptr<const void>;

    void add(const std::byte* begin, std::size_t bytes);
    // Removes the piece that begins at `begin`. Throws PartitionedError: BadArgument if no piece of this size begins there,
    // InUse if a request uses the piece.
    void remove(const std::byte* begin, std::size_t bytes);
    // Marks the piece that contains these bytes as in use. Returns null if no piece contains all of them, or `bytes` is 0.
    Use use(const std::byte* begin, std::size_t bytes) const;
    bool holds(const std::byte* begin, std::size_t bytes) const;

private:
    struct Piece
    {
        std::size_t bytes;
        Use users; // its use_count() is the number of Use objects plus one
    };
    const Piece* find(const std::byte* begin, std::size_t bytes) const;

    std::map<const std::byte*, Piece, std::less<>> pieces_; // pieces by the address of their first byte
};

} // namespace parhelion
