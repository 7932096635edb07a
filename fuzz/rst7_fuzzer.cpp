// SPDX-License-Identifier: Apache-2.0
#include "io/input/amber_coordinates.hpp"

#include "memory_file.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static MemoryFile file;
    file.put(data, size);
    try
    {
        const GroFile read = read_amber_coordinates(MappedFile(file.path()), AmberBox{{3, 3, 3}, {90, 90, 90}});
        for (const Vec3<double>& x : read.x)
        {
            PARHELION_EXPECTS(std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z));
        }
        for (const Vec3<double>& v : read.v)
        {
            PARHELION_EXPECTS(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z));
        }
        PARHELION_EXPECTS(!read.x.empty() && (read.v.empty() || read.v.size() == read.x.size()) && read.box.volume() > 0);
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(!error.where().file.empty());
    }
    return 0;
}
