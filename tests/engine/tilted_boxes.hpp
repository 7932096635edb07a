// SPDX-License-Identifier: Apache-2.0
// Boxes that are not rectangular, for the tests of all backends: the crystal of a rectangular box described by other edges.
#pragma once

#include "run_helpers.hpp"
#include "whole_molecules.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::test {

// Four neighbouring images of the rectangular box, by edges that lean as far as they may. Copy k is the images at copy_shifts[k].
inline constexpr std::array<std::array<int, 2>, 4> copy_shifts{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}};

// A box of so many images of the rectangular one, whose edges are multiples of its.
inline Refdata with_copies(Refdata data, const Box<double>& box, const std::vector<std::array<int, 3>>& shifts)
{
    make_molecules_whole(data.system); // of its images here some are one
    Refdata copies = data;
    System& system = copies.system;
    const Vec3<double> edge = data.system.box.diagonal();
    system.box = box;
    system.x.clear(), system.v.clear(), system.topology.blocks.clear();
    for (const auto& [x, y, z] : shifts)
    {
        const Vec3<double> shift{x * edge.x, y * edge.y, z * edge.z};
        for (const Vec3<double>& place : data.system.x) { system.x.push_back(place + shift); }
        system.v.insert(system.v.end(), data.system.v.begin(), data.system.v.end());
        const auto& blocks = data.system.topology.blocks;
        system.topology.blocks.insert(system.topology.blocks.end(), blocks.begin(), blocks.end());
    }
    system.topology.finish();
    return copies;
}

inline Refdata in_tilted_box(Refdata data)
{
    const Vec3<double> edge = data.system.box.diagonal();
    std::vector<std::array<int, 3>> shifts;
    for (const auto& [x, y] : copy_shifts) { shifts.push_back({x, y, 0}); }
    return with_copies(std::move(data), {{2 * edge.x, 2 * edge.y, edge.z}, {edge.x, edge.x, edge.y}}, shifts);
}

// Low boxes: the images of the rectangular one that form a dodecahedron (2) or an octahedron (4) if it is a cube. Between their
// images is room for longer cut-offs than between its own; a rectangular box of eight has room for both.
inline Refdata in_dodecahedron(Refdata data)
{
    const Vec3<double> edge = data.system.box.diagonal();
    return with_copies(std::move(data), {{2 * edge.x, edge.y, edge.z}, {edge.x, edge.x, 0}}, {{0, 0, 0}, {1, 0, 0}});
}
inline Refdata in_octahedron(Refdata data)
{
    const Vec3<double> edge = data.system.box.diagonal();
    return with_copies(std::move(data), {{2 * edge.x, 2 * edge.y, edge.z}, {0, edge.x, edge.y}},
                       {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}});
}
inline Refdata in_double_box(Refdata data)
{
    const Vec3<double> edge = data.system.box.diagonal();
    return with_copies(std::move(data), 2.0 * edge,
                       {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}});
}
// With a cut-off that makes both of them low. Up to the longest that they have room for: nonbonded_test.cpp.
inline Refdata with_long_cutoff(Refdata data)
{
    const double cutoff = 0.53 * in_dodecahedron(data).system.box.least_height();
    data.parameters.coulomb_cutoff = data.parameters.lj_cutoff = cutoff;
    return data;
}

// A grid so fine that PME's error is below what is compared.
inline Refdata load_fine(const std::string& name)
{
    Refdata data = load_nve(name);
    data.parameters.mesh_nx = data.parameters.mesh_ny = data.parameters.mesh_nz = 0;
    data.parameters.mesh_spacing = 0.05, data.parameters.pme_order = 8;
    return data;
}

template <class T>
std::vector<T> repeated(const std::vector<T>& list, std::size_t copies = copy_shifts.size())
{
    std::vector<T> all;
    for (std::size_t copy = 0; copy < copies; ++copy) { all.insert(all.end(), list.begin(), list.end()); }
    return all;
}

// The systems that every backend is tried on.
inline const std::vector<std::string> tilted_systems{"spce", "etoh", "villin", "etoh/pme"};
inline bool has_mesh(const std::string& name) { return name.find("pme") != std::string::npos; }
inline std::string name_of_system(const ::testing::TestParamInfo<std::string>& test)
{
    return has_mesh(test.param) ? "etoh_pme" : test.param;
}
// One of them in its rectangular box. Without dispersion correction: its mean over pairs depends on how many atoms there are.
inline Refdata rectangular(const std::string& name)
{
    Refdata data = has_mesh(name) ? load_fine(name) : load_nve(name);
    data.parameters.dispersion_correction = DispersionCorrection::None;
    return data;
}

} // namespace parhelion::test
