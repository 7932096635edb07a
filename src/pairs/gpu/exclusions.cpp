// SPDX-License-Identifier: Apache-2.0
#include "pairs/gpu/pair_list_gpu.hpp"

namespace parhelion {

GpuExclusions make_gpu_exclusions(GpuQueue& queue, const Topology& topology)
{
    std::vector<std::int32_t> start, excluded, row, molecule_first, first_row;
    for (const MoleculeType& molecule : topology.molecule_types)
    {
        first_row.push_back(static_cast<std::int32_t>(start.size()));
        const auto before = static_cast<std::int32_t>(excluded.size());
        for (const std::int32_t s : molecule.exclusion_start) { start.push_back(before + s); }
        excluded.insert(excluded.end(), molecule.excluded.begin(), molecule.excluded.end());
    }
    for (const MoleculeBlock& block : topology.blocks)
    {
        const auto type = static_cast<std::size_t>(block.type);
        const auto size = static_cast<std::int32_t>(topology.molecule_types[type].atoms.size());
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const auto first = static_cast<std::int32_t>(row.size());
            for (std::int32_t a = 0; a < size; ++a)
            {
                row.push_back(first_row[type] + a);
                molecule_first.push_back(first);
            }
        }
    }
    GpuExclusions result;
    result.start.upload(queue, start), result.excluded.upload(queue, excluded);
    result.row.upload(queue, row), result.molecule_first.upload(queue, molecule_first);
    queue.synchronize();
    return result;
}

} // namespace parhelion
