// SPDX-License-Identifier: Apache-2.0
#include "io/input/mdp.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    try
    {
        Diagnostics diagnostics, again;
        const RunParameters parameters =
            read_mdp_text({reinterpret_cast<const char*>(data), size}, "fuzz.mdp", diagnostics).parameters;
        PARHELION_EXPECTS(std::isfinite(parameters.dt) && parameters.dt > 0 && std::isfinite(parameters.lj_cutoff));
        // What was accepted can be printed and read again, to the same values.
        const std::string text = mdp_text(parameters);
        PARHELION_EXPECTS(mdp_text(read_mdp_text(text, "printed.mdp", again).parameters) == text);
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(error.where().file == "fuzz.mdp");
    }
    return 0;
}
