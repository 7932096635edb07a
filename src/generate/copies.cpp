// SPDX-License-Identifier: Apache-2.0
#include "generate/copies.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parhelion {

namespace {

Box<double> larger(const Box<double>& box, const std::array<int, 3>& copies)
{
    const Vec3<double>&d = box.diagonal(), &t = box.tilt();
    return {{d.x * copies[0], d.y * copies[1], d.z * copies[2]}, {t.x * copies[1], t.y * copies[2], t.z * copies[2]}};
}

// Returns positions with each atom at the image nearest to the previous atom of its molecule. Otherwise parts of a molecule that
// crosses a face of the box would be in different copies.
std::vector<Vec3<double>> whole(std::vector<Vec3<double>> x, const Topology& topology, const Box<double>& box)
{
    if (x.empty()) { return x; }
    std::size_t atom = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::size_t of_one = topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size();
        for (std::int64_t copy = 0; copy < block.count; ++copy, ++atom)
        {
            for (std::size_t i = 1; i < of_one; ++i, ++atom) { x[atom + 1] = x[atom] + box.image(x[atom + 1] - x[atom]); }
        }
    }
    return x;
}

// Returns the positions of all copies, which are shifted along the edges of `box`. The number along x varies slowest.
std::vector<Vec3<double>> shifted(const std::vector<Vec3<double>>& x, const Box<double>& box, const std::array<int, 3>& copies)
{
    const Vec3<double>&d = box.diagonal(), &t = box.tilt();
    std::vector<Vec3<double>> all;
    all.reserve(x.size() * static_cast<std::size_t>(copies[0]) * static_cast<std::size_t>(copies[1]) *
                static_cast<std::size_t>(copies[2]));
    for (int i = 0; i < copies[0]; ++i)
    {
        for (int j = 0; j < copies[1]; ++j)
        {
            for (int k = 0; k < copies[2]; ++k)
            {
                const Vec3<double> by{i * d.x + j * t.x + k * t.y, j * d.y + k * t.z, k * d.z};
                for (const Vec3<double>& one : x) { all.push_back(one + by); }
            }
        }
    }
    return all;
}

template <class T>
std::vector<T> repeated(const std::vector<T>& values, int times)
{
    std::vector<T> all;
    all.reserve(values.size() * static_cast<std::size_t>(times));
    for (int n = 0; n < times; ++n) { all.insert(all.end(), values.begin(), values.end()); }
    return all;
}

} // namespace

LoadedInput copies_of(const LoadedInput& one, const std::array<int, 3>& copies)
{
    const System& from = one.system;
    PARHELION_EXPECTS(*std::min_element(copies.begin(), copies.end()) >= 1 && !one.hand_over);
    PARHELION_EXPECTS(std::none_of(from.topology.molecule_types.begin(), from.topology.molecule_types.end(),
                                   [](const MoleculeType& type) { return type.is_tied_to_image; }));
    const int count = copies[0] * copies[1] * copies[2];
    LoadedInput many = one;
    System& system = many.system;
    system.topology.blocks = repeated(from.topology.blocks, count);
    system.topology.finish();
    system.x = shifted(whole(from.x, from.topology, from.box), from.box, copies);
    system.v = repeated(from.v, count);
    system.restraint_reference = shifted(whole(from.restraint_reference, from.topology, from.restraint_reference_box),
                                         from.restraint_reference_box, copies);
    system.box = larger(from.box, copies);
    system.restraint_reference_box = larger(from.restraint_reference_box, copies);
    const std::int64_t atoms = from.topology.atom_count();
    for (auto& [name, members] : system.groups)
    {
        const std::size_t of_one = members.size();
        members = repeated(members, count);
        for (std::size_t i = 0; i < members.size(); ++i) { members[i] += static_cast<std::int64_t>(i / of_one) * atoms; }
    }
    many.parameters.mesh_nx *= copies[0], many.parameters.mesh_ny *= copies[1], many.parameters.mesh_nz *= copies[2];
    return many;
}

} // namespace parhelion
