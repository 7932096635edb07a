// SPDX-License-Identifier: Apache-2.0
// Boxes that are not rectangular, for the tests of all backends: the crystal of a rectangular box described by other edges.
#pragma once

#include "run_helpers.hpp"
#include "whole_molecules.hpp"

#include <array>
#include <string>
#include <vector>

namespace parhelion::test {

// Four neighbouring images of the rectangular box, by edges that lean as far as they may. Copy k is the images at copy_shifts[k].
inline constexpr std::array<std::array<int, 2>, 4> copy_shifts{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}};

inline Refdata in_tilted_box(Refdata data)
{
    make_molecules_whole(data.system); // of its images here four are one
    Refdata tilted = data;
    System& system = tilted.system;
    const Vec3<double> edge = data.system.box.diagonal();
    system.box = {{2 * edge.x, 2 * edge.y, edge.z}, {edge.x, edge.x, edge.y}};
    system.x.clear(), system.v.clear(), system.topology.blocks.clear();
    for (const auto& [x, y] : copy_shifts)
    {
        const Vec3<double> shift{x * edge.x, y * edge.y, 0};
        for (const Vec3<double>& place : data.system.x) { system.x.push_back(place + shift); }
        system.v.insert(system.v.end(), data.system.v.begin(), data.system.v.end());
        const auto& blocks = data.system.topology.blocks;
        system.topology.blocks.insert(system.topology.blocks.end(), blocks.begin(), blocks.end());
    }
    system.topology.finish();
    return tilted;
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
std::vector<T> repeated(const std::vector<T>& list)
{
    std::vector<T> all;
    for (std::size_t copy = 0; copy < copy_shifts.size(); ++copy) { all.insert(all.end(), list.begin(), list.end()); }
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
