// SPDX-License-Identifier: Apache-2.0
// What callers have allocated of a rank's symmetric memory, and how many requests use each piece: so that nothing is given back
// that was not taken, nor what a request may still write to. Cost: a search among the pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>

namespace parhelion {

class Allocations
{
public:
    // A piece in use, for as long as this lives.
    using Use = std::shared_ptr<const void>;

    void add(const std::byte* begin, std::size_t bytes);
    // The piece that begins here, which is gone then. Throws PartitionedError: BadArgument if it is none, or of another size,
    // InUse.
    void remove(const std::byte* begin, std::size_t bytes);
    // Null if these bytes are not within one piece. No bytes are everywhere.
    Use use(const std::byte* begin, std::size_t bytes) const;
    bool holds(const std::byte* begin, std::size_t bytes) const;

private:
    struct Piece
    {
        std::size_t bytes;
        Use users; // one more than there are
    };
    const Piece* find(const std::byte* begin, std::size_t bytes) const;

    std::map<const std::byte*, Piece, std::less<>> pieces_; // by begin
};

} // namespace parhelion
