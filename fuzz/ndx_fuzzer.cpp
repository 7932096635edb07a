// SPDX-License-Identifier: Apache-2.0
#include "io/input/ndx.hpp"

#include "base/error.hpp"
#include "memory_file.hpp"

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static MemoryFile file;
    file.put(data, size);
    constexpr std::int64_t atoms = 40;
    try
    {
        for (const auto& [name, group] : read_ndx(file.path(), atoms))
        {
            for (const std::int64_t atom : group) { PARHELION_EXPECTS(atom >= 0 && atom < atoms); }
        }
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(!error.where().file.empty());
    }
    return 0;
}
