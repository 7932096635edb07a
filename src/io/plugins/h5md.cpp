// SPDX-License-Identifier: Apache-2.0
#include "io/plugins/h5md.h"

#include "io/plugins/h5md_summary.hpp"
#include "io/plugins/h5md_writer.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace parhelion::h5md {

namespace {

std::mutex of_hdf5; // the library serves one thread at a time

template <class Work>
int attempt(char* why, std::size_t bytes, const Work& work) noexcept
{
    const auto tell = [&](const char* text) {
        const std::size_t length = std::min(std::strlen(text), bytes - 1);
        std::memcpy(why, text, length);
        why[length] = 0;
    };
    try
    {
        const std::lock_guard lock(of_hdf5);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // HDF5 would print its errors
        work();
        return parhelion_h5md_done;
    }
    catch (const ContentsFailure& failure)
    {
        tell(failure.what());
        return parhelion_h5md_contents;
    }
    catch (const std::exception& failure)
    {
        tell(failure.what());
        return parhelion_h5md_system;
    }
}

int open(const parhelion_h5md_plan* plan, const std::int64_t* kept, void** file, char* why, std::size_t bytes)
{
    return attempt(why, bytes, [&] { *file = new Writer(*plan, kept); });
}

int write(void* file, const parhelion_h5md_frame* frame, char* why, std::size_t bytes)
{
    return attempt(why, bytes, [&] { static_cast<Writer*>(file)->write(*frame); });
}

int sync(void* file, char* why, std::size_t bytes)
{
    return attempt(why, bytes, [&] { static_cast<Writer*>(file)->sync(); });
}

int close(void* file, char* why, std::size_t bytes)
{
    return attempt(why, bytes, [&] { std::unique_ptr<Writer>(static_cast<Writer*>(file))->close(); });
}

int summary(const char* path, parhelion_h5md_summary* result, char* why, std::size_t bytes)
{
    return attempt(why, bytes, [&] { *result = summarise(path); });
}

} // namespace

} // namespace parhelion::h5md

extern "C" __attribute__((visibility("default"))) const parhelion_h5md_calls* parhelion_h5md_v1(void)
{
    using namespace parhelion::h5md;
    static constexpr parhelion_h5md_calls calls{PARHELION_H5MD_VERSION, open, write, sync, close, summary};
    return &calls;
}
