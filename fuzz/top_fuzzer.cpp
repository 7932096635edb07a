// SPDX-License-Identifier: Apache-2.0
#include "io/input/top.hpp"

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
        Topology topology = read_topology(file.path(), {{}, {std::filesystem::path(PARHELION_SEEDS)}}, diagnostics);
        convert_bonds_to_constraints(topology, ConstraintMode::AllBonds);
        for (const double c : topology.c6) { PARHELION_EXPECTS(std::isfinite(c)); }
        for (const double c : topology.c12) { PARHELION_EXPECTS(std::isfinite(c)); }
        PARHELION_EXPECTS(std::isfinite(topology.total_charge()) && topology.atom_count() > 0);
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(!error.where().file.empty());
    }
    return 0;
}
