// SPDX-License-Identifier: Apache-2.0
// Who moves together: the atoms of a system, dealt out to the thread blocks of the GPU's update.
//
// The idea: kick, constrain and drift of an atom need no other atom than those it is constrained to. So waters, *stars* (one to
// four constraints that share an atom, the centre, and nothing else, as a carbon holds its hydrogens) and atoms without
// constraints are moved by a few lanes of a warp each, and the atoms of all other LINCS groups go into blocks of threads such
// that constraints never leave a block: whole groups, one after another, until a block is full; a group larger than a block has
// one to itself. What a group looks like is kept once per molecule type; an atom or a constraint of a block is eight bytes that
// point there. All of it is made from the topology alone and stays valid for the run; only the slots of the atoms change. Cost: 8
// bytes per atom, 4 per water and star, 8 more per atom and constraint of a block.
#pragma once

#include "base/host_device.hpp"
#include "dynamics/lincs.hpp"
#include "dynamics/settle.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace parhelion {

inline constexpr int update_block_size = 128; // threads, and atoms of a block unless one LINCS group is larger

// Copies of groups of constraints are alike; this is one of them, with indices counted from its own first atom and constraint.
struct ShapeAtom
{
    double inverse_mass = 0;
    std::int32_t first_end = 0, ends = 0; // its constraints: BlockShapes::ends [first_end, first_end + ends), ascending
};
struct ShapeBond
{
    std::int32_t a = 0, b = 0;
    std::int32_t first_coupled = 0, coupled = 0; // BlockShapes::coupled, coefficient
    double length = 0, weight = 0;               // nm; LincsGroup::weight
};
struct ShapeEnd // of a constraint at an atom
{
    std::int32_t bond = 0;
    float sign = 0; // of the displacement along the constraint's direction: -1 for atom a, +1 for b
};
struct BlockShapes
{
    std::vector<ShapeAtom> atoms;
    std::vector<ShapeBond> bonds;
    std::vector<ShapeEnd> ends;
    std::vector<std::int32_t> coupled;
    std::vector<double> coefficient;
};

// An atom or a constraint of a block: what it is like, and where in the block its group begins.
struct BlockMember
{
    std::int32_t shape = 0; // index into BlockShapes::atoms or bonds
    std::int16_t group = 0; // of the block
    std::int16_t unused = 0;
};
struct BlockGroup // of constraints in a block
{
    std::int32_t first_atom = 0, first_bond = 0; // of the block
    std::int32_t series_order = 0, has_triangle = 0;
};
struct UpdateBlock
{
    std::int32_t first_atom = 0, atoms = 0; // UpdateBlocks::atoms, global_atoms
    std::int32_t first_bond = 0, bonds = 0; // UpdateBlocks::bonds
    std::int32_t first_group = 0, groups = 0;
    std::int32_t series_order = 0; // the largest of its groups
    std::int32_t couplings = 0;    // matrix elements of all its constraints
    std::int64_t arena = 0;        // where in global memory its working arrays begin, bytes; unused if they are in shared memory
};

// Bytes of the working arrays of one block (gpu/lincs_block.cuh): 144 for each atom of a long chain of constraints.
PARHELION_HD constexpr std::size_t lincs_arena_bytes(const UpdateBlock& block)
{
    return static_cast<std::size_t>(block.atoms) * 2 * sizeof(Vec3<double>) +
           static_cast<std::size_t>(block.bonds) * (2 * sizeof(Vec3<double>) + 4 * sizeof(double)) +
           static_cast<std::size_t>(block.couplings) * sizeof(double) +
           static_cast<std::size_t>(block.groups) * sizeof(std::int32_t);
}

// Where the working arrays of blocks are: in the shared memory of their thread blocks if those of all blocks fit, else in global
// memory, which is slower and has no limit.
struct LincsArenas
{
    std::size_t largest = 0; // bytes of one block's
    std::size_t all = 0;     // bytes of global memory for all; 0: they are in shared memory
};
// Lays out `blocks` for a GPU whose thread blocks may have `shared` bytes of shared memory, all told.
LincsArenas plan_arenas(std::vector<UpdateBlock>& blocks, std::size_t shared);
// Of these, what the kernels need for other things at most.
inline constexpr std::size_t shared_beside_arena = 4 * 1024;

// How many thread blocks of the update may wait for other ranks on each multiprocessor while a kernel of this rank that the
// others wait for has yet to find room there: blocks of `shared_of_block` bytes of dynamic shared memory on a multiprocessor that
// has `shared_of_multiprocessor` in all. One place of those that there are stays free at least, so that the kernel finds room
// wherever the blocks are. None where blocks have more than every kernel gets: then a multiprocessor divides its memory anew, and
// kernels that want it divided otherwise may not be let in beside them (hazard D3 of docs/design/communication.md).
int most_waiting_blocks(std::size_t shared_of_block, std::size_t shared_of_multiprocessor);

inline constexpr int largest_star = 4; // constraints

// Copies of a molecule have alike stars. Atoms: the centre, then the outer ends in the order of their constraints.
struct StarShape
{
    double inverse_mass[largest_star + 1] = {}; // 1/u
    double length[largest_star] = {};           // nm
    double weight[largest_star] = {};           // LincsGroup::weight
    int series_order = 0;
};

// A rigid water with a virtual site that is a weighted mean of its atoms.
struct SiteWater
{
    SettleWater water;
    int site;                  // local atom
    double weight_a, weight_b; // of the hydrogens; the oxygen has what is left to 1
};

// Stars with the same number of constraints. None: atoms without constraints, which have no shape.
struct Stars
{
    std::vector<std::int32_t> atoms; // global: centre, outer ends
    std::vector<std::int32_t> shape; // of each star
};

struct UpdateBlocks
{
    // Waters: global atoms O H H, and the kind of each.
    std::vector<SettleWater> water_kinds;
    std::vector<std::int32_t> water_atoms, kind_of_water;
    // Those with a site: global atoms O H H and the site.
    std::vector<SiteWater> site_water_kinds;
    std::vector<std::int32_t> site_water_atoms, kind_of_site_water;
    std::vector<StarShape> star_shapes;
    std::array<Stars, largest_star + 1> stars; // by number of constraints
    // All other atoms.
    BlockShapes shapes;
    std::vector<UpdateBlock> blocks;
    std::vector<std::int32_t> global_atoms; // of the atoms of all blocks
    std::vector<BlockMember> atoms, bonds;
    std::vector<std::int32_t> bond_couplings; // per bond: its first matrix element in the block
    std::vector<BlockGroup> groups;

    std::int64_t all_atoms = 0; // of the system

    std::int64_t waters() const { return static_cast<std::int64_t>(kind_of_water.size() + kind_of_site_water.size()); }
    std::int64_t constraints() const
    {
        auto count = 3 * waters() + static_cast<std::int64_t>(bonds.size());
        for (std::size_t n = 1; n < stars.size(); ++n) { count += static_cast<std::int64_t>(n * stars[n].shape.size()); }
        return count;
    }
};

// Is every virtual site a water's, one of each? Then the update moves them; else it moves none, and gpu/virtual_sites_gpu.hpp
// all.
bool all_sites_are_of_waters(const Topology& topology);

// Puts every atom into one water, star or block, except virtual sites that other kernels move. Precondition: the checks of the
// CPU's Constraints (masses) have passed.
UpdateBlocks make_update_blocks(const Topology& topology, const LincsSettings& settings);

} // namespace parhelion
