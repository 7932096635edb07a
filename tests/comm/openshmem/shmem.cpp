// SPDX-License-Identifier: Apache-2.0
// An OpenSHMEM library for tests, between processes of one host that run_ranks.sh has started. It is as disorderly as the
// standard allows: every put arrives by itself, some time after the call, and only fences keep two of them in order; of a put
// with signal the payload alone comes before the signal. So what a plugin fails to order goes wrong soon.
#include "shmem.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

constexpr std::size_t page = 4096;

struct Meeting // the first page of the file
{
    std::atomic<int> here[2];
};

// What is under way from this process, by the time at which it arrives.
class Network
{
public:
    // Not before what the last fence has seen. The time of its arrival.
    Clock::time_point send(int pe, Clock::time_point earliest, std::function<void()> deliver)
    {
        const std::scoped_lock lock(mutex_);
        const auto at = std::max({Clock::now(), earliest, floor_[pe]}) + std::chrono::nanoseconds(1 + random_() % 50'000);
        latest_[pe] = std::max(latest_[pe], at);
        under_way_.emplace(at, std::move(deliver));
        changed_.notify_all();
        return at;
    }
    void fence()
    {
        const std::scoped_lock lock(mutex_);
        floor_ = latest_;
    }
    void quiet()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return under_way_.empty() && !is_delivering_; });
    }
    void run(const std::stop_token& stop)
    {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested())
        {
            if (under_way_.empty() || under_way_.begin()->first > Clock::now())
            {
                const auto until = under_way_.empty() ? Clock::now() + std::chrono::milliseconds(1) : under_way_.begin()->first;
                changed_.wait_until(lock, until);
                continue;
            }
            auto next = under_way_.extract(under_way_.begin());
            is_delivering_ = true;
            lock.unlock();
            next.mapped()();
            lock.lock();
            is_delivering_ = false;
            changed_.notify_all();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<Clock::time_point, std::function<void()>> under_way_;
    std::map<int, Clock::time_point> floor_, latest_; // by destination
    std::mt19937_64 random_{static_cast<std::uint64_t>(getpid())};
    bool is_delivering_ = false;
};

struct Library
{
    int pe = 0, pes = 1;
    std::size_t heap = 0;
    Meeting* meeting = nullptr;
    unsigned char* heaps = nullptr; // of all, one after the other
    int barriers = 0;
    Network network;
    std::jthread deliverer;
};
Library library;

int number_in(const char* variable, int otherwise)
{
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : otherwise;
}

// Where another process has what is at this place of the own heap.
template <class T>
T* there(T* here, int pe)
{
    unsigned char* const own = library.heaps + static_cast<std::size_t>(library.pe) * library.heap;
    return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(here) - own + library.heaps +
                                static_cast<std::size_t>(pe) * library.heap);
}

Clock::time_point put(void* dest, const void* source, std::size_t bytes, int pe)
{
    const auto* const first = static_cast<const unsigned char*>(source);
    auto* const to = static_cast<unsigned char*>(there(static_cast<unsigned char*>(dest), pe));
    return library.network.send(pe, {}, [to, data = Bytes(first, first + bytes)] { std::copy(data.begin(), data.end(), to); });
}

template <class T>
void set(T* word, T value, int pe, Clock::time_point earliest)
{
    T* const to = there(word, pe);
    library.network.send(pe, earliest, [to, value] { std::atomic_ref(*to).store(value, std::memory_order_release); });
}

} // namespace

void shmem_info_get_version(int* major, int* minor) { *major = SHMEM_MAJOR_VERSION, *minor = SHMEM_MINOR_VERSION; }
void shmem_info_get_name(char* name) { std::snprintf(name, SHMEM_MAX_NAME_LEN, "library of the tests"); }

int shmem_init_thread(int, int* provided)
{
    *provided = SHMEM_THREAD_SERIALIZED;
    library.pe = number_in("OMPI_COMM_WORLD_RANK", 0);
    library.pes = std::getenv("PARHELION_TEST_SHMEM") != nullptr ? number_in("OMPI_COMM_WORLD_SIZE", 1) : 1;
    library.heap = std::strtoull(std::getenv("SHMEM_SYMMETRIC_SIZE"), nullptr, 10);
    library.heap = (library.heap + page - 1) / page * page;
    const char* const named = std::getenv("PARHELION_TEST_SHMEM");
    const std::string name = named != nullptr ? named : "/parhelion-test-" + std::to_string(getpid());
    const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    const std::size_t size = page + static_cast<std::size_t>(library.pes) * library.heap;
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) { return 1; }
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (memory == MAP_FAILED) { return 1; }
    library.meeting = static_cast<Meeting*>(memory);
    library.heaps = static_cast<unsigned char*>(memory) + page;
    library.deliverer = std::jthread([](const std::stop_token& stop) { library.network.run(stop); });
    shmem_barrier_all();
    shm_unlink(name.c_str()); // all have it; a second time does nothing
    return 0;
}

void shmem_finalize()
{
    shmem_barrier_all();
    library.deliverer = {};
}

void shmem_global_exit(int status) { std::_Exit(status); }
int shmem_my_pe() { return library.pe; }
int shmem_n_pes() { return library.pes; }

void* shmem_align(std::size_t, std::size_t size)
{
    shmem_barrier_all();
    return size <= library.heap ? library.heaps + static_cast<std::size_t>(library.pe) * library.heap : nullptr;
}
void shmem_free(void*) { shmem_barrier_all(); }

void shmem_putmem(void* dest, const void* source, std::size_t bytes, int pe) { put(dest, source, bytes, pe); }
void shmem_long_atomic_set(long* dest, long value, int pe) { set(dest, value, pe, {}); }
void shmem_fence() { library.network.fence(); }
void shmem_quiet() { library.network.quiet(); }

void shmem_barrier_all()
{
    shmem_quiet();
    // Counts up for ever; two counters in turn, of which one may be ahead by a barrier.
    const int round = library.barriers++;
    std::atomic<int>& here = library.meeting->here[round % 2];
    here.fetch_add(1);
    while (here.load() < (round / 2 + 1) * library.pes) { std::this_thread::yield(); }
}

#if SHMEM_MINOR_VERSION >= 5
void shmem_putmem_signal(void* dest, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t value, int,
                         int pe)
{
    const Clock::time_point arrival = bytes > 0 ? put(dest, source, bytes, pe) : Clock::time_point{};
    set(signal, value, pe, arrival);
}
#endif
