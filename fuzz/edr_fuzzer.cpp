// SPDX-License-Identifier: Apache-2.0
#include "io/output/edr.hpp"

#include "base/error.hpp"

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try
    {
        EdrReader reader({reinterpret_cast<const std::byte*>(data), size}, "fuzz.edr");
        for (EdrFrame frame; reader.read(frame);)
        {
            PARHELION_EXPECTS(frame.values.empty() || frame.values.size() == reader.terms().size());
            PARHELION_EXPECTS(frame.since_last.terms() == frame.values.size() && frame.since_last.count() > 0);
        }
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(error.where().file == "fuzz.edr");
    }
    return 0;
}
