// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/object_pool.hpp"

#include <algorithm>

namespace parhelion {

ObjectPool::Piece ObjectPool::take(const std::shared_ptr<ObjectPool>& pool, GpuQueue& queue, std::size_t bytes)
{
    Piece piece;
    piece.window_.bytes = std::max(round_up_window(bytes), window_alignment);
    std::vector<Block>& blocks = pool->blocks_;
    for (piece.block_ = 0; piece.block_ < blocks.size(); ++piece.block_)
    {
        piece.window_.offset = blocks[piece.block_].free.fit(0, piece.window_.bytes);
        if (piece.window_.offset != FreeExtents::none) { break; }
    }
    if (piece.block_ == blocks.size())
    {
        const std::size_t size = std::max(block_bytes, piece.window_.bytes);
        queue.make_current();
        blocks.push_back({DeviceBuffer<std::byte>(size), FreeExtents(size)});
        piece.window_.offset = 0;
    }
    blocks[piece.block_].free.take(piece.window_);
    piece.data_ = blocks[piece.block_].memory.data() + piece.window_.offset;
    piece.pool_ = pool;
    return piece;
}

void ObjectPool::Piece::give_back()
{
    if (pool_) { pool_->blocks_[block_].free.give_back(window_); }
}

} // namespace parhelion
