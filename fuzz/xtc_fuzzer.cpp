// SPDX-License-Identifier: Apache-2.0
#include "io/output/xtc.hpp"

#include "base/error.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try
    {
        XtcReader reader({reinterpret_cast<const std::byte*>(data), size}, "fuzz.xtc");
        XtcFrame frame;
        while (reader.read(frame))
        {
            for (const Vec3<float>& x : frame.x)
            {
                PARHELION_EXPECTS(std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z));
            }
        }
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(error.where().file == "fuzz.xtc");
    }
    return 0;
}
