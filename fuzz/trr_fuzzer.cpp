// SPDX-License-Identifier: Apache-2.0
#include "io/output/trr.hpp"

#include "base/error.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try
    {
        TrrReader reader({reinterpret_cast<const std::byte*>(data), size}, "fuzz.trr");
        TrrFrame frame;
        while (reader.read(frame))
        {
            for (const auto array : {frame.x, frame.v})
            {
                for (const Vec3<double>& a : reader.vectors(frame, array)) { PARHELION_EXPECTS(std::isfinite(norm2(a))); }
            }
        }
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(error.where().file == "fuzz.trr");
    }
    return 0;
}
