// SPDX-License-Identifier: Apache-2.0
#include "io/input/load.hpp"

#include "memory_file.hpp"

#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static MemoryFile file;
    file.put(data, size);
    try
    {
        Diagnostics diagnostics;
        InputFiles files;
        files.run_input = file.path();
        const LoadedInput input = load_gromacs(files, diagnostics);
        PARHELION_EXPECTS(std::isfinite(input.system.topology.total_charge()) && input.system.topology.atom_count() > 0);
        for (const Vec3<double>& x : input.system.x) { PARHELION_EXPECTS(std::isfinite(norm2(x))); }
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(!error.where().file.empty());
    }
    return 0;
}
