// SPDX-License-Identifier: Apache-2.0
// Per-atom vectors in cluster order: blocks of cluster_size atoms, each stored as xxxxxxxx yyyyyyyy zzzzzzzz, so that
// one vector load takes a component of a whole cluster. An atom's place is its *slot*: cluster * cluster_size + lane.
#pragma once

#include "base/vec3.hpp"

#include <cstddef>
#include <new>
#include <vector>

namespace parhelion {

inline constexpr int cluster_size = 8;

// An allocator that aligns std::vector storage to cache lines.
template <class T>
struct CacheAligned
{
    using value_type = T;
    static constexpr std::align_val_t alignment{64};
    CacheAligned() = default;
    template <class U>
    CacheAligned(const CacheAligned<U>&)
    {
    }
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
    friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
};
template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

template <class T>
class ClusterArray
{
public:
    // slots is a multiple of cluster_size; new elements are zero.
    void resize(std::size_t slots) { data_.resize(slots * 3); }
    std::size_t slots() const { return data_.size() / 3; }
    std::size_t clusters() const { return slots() / cluster_size; }

    Vec3<T> get(std::size_t slot) const
    {
        const T* p = lane(slot);
        return {p[0], p[cluster_size], p[2 * cluster_size]};
    }
    void set(std::size_t slot, const Vec3<T>& a)
    {
        T* p = lane(slot);
        p[0] = a.x, p[cluster_size] = a.y, p[2 * cluster_size] = a.z;
    }
    void add(std::size_t slot, const Vec3<T>& a)
    {
        T* p = lane(slot);
        p[0] += a.x, p[cluster_size] += a.y, p[2 * cluster_size] += a.z;
    }
    // Returns the address of the 3 * cluster_size values of one cluster.
    T* cluster(std::size_t c) { return data_.data() + c * 3 * cluster_size; }
    const T* cluster(std::size_t c) const { return data_.data() + c * 3 * cluster_size; }
    AlignedVector<T>& values() { return data_; }
    const AlignedVector<T>& values() const { return data_; }

private:
    static std::size_t offset(std::size_t slot) { return slot / cluster_size * 3 * cluster_size + slot % cluster_size; }
    T* lane(std::size_t slot) { return data_.data() + offset(slot); }
    const T* lane(std::size_t slot) const { return data_.data() + offset(slot); }

    AlignedVector<T> data_;
};

} // namespace parhelion
