// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's heap and puts (nvshmem_host.h) between processes of one host, for tests on the stand-in. A process has a file of
// memory, which all map.
//
// The idea of a put: the source is read at once, and a thread delivers some microseconds later, payload before signal. Of two
// puts nothing is said, as on a network, so the later one comes first if there are two. quiet waits until all has arrived.
#include "nvshmem_host.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr std::size_t front = 4096; // of a file, before what is allocated

struct Signal
{
    std::uint64_t* where = nullptr; // here; null: there is none
    std::uint64_t value = 0;
};
struct UnderWay
{
    int rank;
    std::size_t offset; // of the payload
    std::vector<std::byte> payload;
    Signal signal;
};

class Heap
{
public:
    // 0, or 1: the others do not come.
    int open(const nvshmemx_init_attr_t& by)
    {
        rank_ = by.rank;
        const char* const size = std::getenv("NVSHMEM_SYMMETRIC_SIZE");
        bytes_ = front + std::strtoull(size == nullptr ? "0" : size, nullptr, 10);
        const auto name = [&](int rank) {
            std::string text = by.id.text; // with its slash
            text += '.';
            return text += std::to_string(rank);
        };
        const auto end = std::chrono::steady_clock::now() + 20s;
        for (int rank = 0; rank < by.ranks; ++rank) { files_.push_back(nullptr); }
        map(rank_, ::shm_open(name(rank_).c_str(), O_CREAT | O_RDWR, 0600), true);
        for (int rank = 0; rank < by.ranks; ++rank)
        {
            while (files_[static_cast<std::size_t>(rank)] == nullptr)
            {
                const int file = ::shm_open(name(rank).c_str(), O_RDWR, 0600);
                if (file >= 0) { map(rank, file, false); }
                if (std::chrono::steady_clock::now() > end) { return 1; }
                std::this_thread::sleep_for(1ms);
            }
        }
        arrived(rank_).store(1);
        for (int rank = 0; rank < by.ranks; ++rank)
        {
            while (arrived(rank).load() == 0 && std::chrono::steady_clock::now() < end) { std::this_thread::sleep_for(1ms); }
        }
        ::shm_unlink(name(rank_).c_str());
        delivers_ = std::jthread([this](const std::stop_token& stop) { deliver(stop); });
        return 0;
    }

    void* allocate(std::size_t bytes)
    {
        constexpr std::size_t alignment = 512;
        const std::size_t begin = used_;
        if (begin + bytes > bytes_) { return nullptr; }
        used_ = (begin + bytes + alignment - 1) / alignment * alignment;
        return files_[static_cast<std::size_t>(rank_)] + begin;
    }
    std::byte* at(const void* here, int rank) const { return files_[static_cast<std::size_t>(rank)] + offset_of(here); }
    void put(void* to, const void* from, std::size_t bytes, Signal signal, int rank)
    {
        const auto* const first = static_cast<const std::byte*>(from);
        const std::scoped_lock lock(mutex_);
        under_way_.push_back({rank, to == nullptr ? 0 : offset_of(to), {first, first + bytes}, signal});
        has_come_.notify_all();
    }
    void quiet()
    {
        std::unique_lock lock(mutex_);
        is_empty_.wait(lock, [&] { return under_way_.empty(); });
    }

private:
    void map(int rank, int file, bool is_new)
    {
        if (is_new && ::ftruncate(file, static_cast<off_t>(bytes_)) != 0) { std::abort(); }
        if (::lseek(file, 0, SEEK_END) == static_cast<off_t>(bytes_)) // else it is not ready
        {
            void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
            if (memory == MAP_FAILED) { std::abort(); }
            files_[static_cast<std::size_t>(rank)] = static_cast<std::byte*>(memory);
        }
        ::close(file);
    }
    std::atomic_ref<int> arrived(int rank) const
    {
        return std::atomic_ref(*reinterpret_cast<int*>(files_[static_cast<std::size_t>(rank)]));
    }
    std::size_t offset_of(const void* here) const
    {
        return static_cast<std::size_t>(static_cast<const std::byte*>(here) - files_[static_cast<std::size_t>(rank_)]);
    }
    void deliver(const std::stop_token& stop)
    {
        std::unique_lock lock(mutex_);
        while (has_come_.wait(lock, stop, [&] { return !under_way_.empty(); }))
        {
            lock.unlock();
            std::this_thread::sleep_for(20us);
            lock.lock();
            for (auto put = under_way_.rbegin(); put != under_way_.rend(); ++put)
            {
                std::copy(put->payload.begin(), put->payload.end(), files_[static_cast<std::size_t>(put->rank)] + put->offset);
                if (put->signal.where == nullptr) { continue; }
                std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(put->signal.where, put->rank))).store(put->signal.value);
            }
            under_way_.clear();
            is_empty_.notify_all();
        }
    }

    int rank_ = 0;
    std::size_t bytes_ = 0, used_ = front;
    std::vector<std::byte*> files_; // by rank
    std::mutex mutex_;              // of what follows
    std::condition_variable_any has_come_, is_empty_;
    std::vector<UnderWay> under_way_;
    std::jthread delivers_;
};

Heap& heap()
{
    static auto* const only = new Heap; // never ends, as the library's
    return *only;
}

} // namespace

int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* id)
{
    std::snprintf(id->text, sizeof id->text, "/parhelion-nvshmem-%08x%08x", std::random_device()(), std::random_device()());
    return 0;
}
int nvshmemx_set_attr_uniqueid_args(int rank, int ranks, const nvshmemx_uniqueid_t* id, nvshmemx_init_attr_t* attributes)
{
    *attributes = {rank, ranks, *id};
    return 0;
}
int nvshmemx_hostlib_init_attr(unsigned, nvshmemx_init_attr_t* attributes) { return heap().open(*attributes); }
void* nvshmem_malloc(size_t bytes) { return heap().allocate(bytes); }
void* nvshmem_ptr(const void* here, int rank) { return heap().at(here, rank); }
void nvshmemx_putmem_on_stream(void* to, const void* from, size_t bytes, int rank, cudaStream_t)
{
    heap().put(to, from, bytes, {}, rank);
}
void nvshmemx_putmem_signal_on_stream(void* to, const void* from, size_t bytes, uint64_t* signal, uint64_t value, int, int rank,
                                      cudaStream_t)
{
    heap().put(to, from, bytes, {signal, value}, rank);
}
void nvshmemx_signal_op_on_stream(uint64_t* signal, uint64_t value, int, int rank, cudaStream_t)
{
    heap().put(nullptr, nullptr, 0, {signal, value}, rank);
}
void nvshmemx_quiet_on_stream(cudaStream_t) { heap().quiet(); }
