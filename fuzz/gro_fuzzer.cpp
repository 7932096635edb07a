// SPDX-License-Identifier: Apache-2.0
#include "io/input/gro.hpp"

#include "memory_file.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static MemoryFile file;
    file.put(data, size);
    try
    {
        const GroFile gro = read_gro(file.path());
        for (const Vec3<double>& x : gro.x) { PARHELION_EXPECTS(std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)); }
        for (const Vec3<double>& v : gro.v) { PARHELION_EXPECTS(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z)); }
        PARHELION_EXPECTS(gro.names.size() == gro.x.size() && (gro.v.empty() || gro.v.size() == gro.x.size()));
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(!error.where().file.empty());
    }
    return 0;
}
