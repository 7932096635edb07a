// SPDX-License-Identifier: Apache-2.0
// Distributes the atoms of a system over the thread blocks of the GPU's update, so that atoms that move together stay together.
//
// The idea: kick, constraints and drift of an atom depend only on atoms that constraints tie it to. A *star*
// has one to four constraints that share an atom, the centre, and no other atom, such as a carbon and its
// hydrogens. A few lanes of a warp move a water, a star or a free atom. Atoms of other LINCS groups go into
// update blocks. Whole groups fill a block, one after another, so constraints never leave a block. A group that
// is larger has a block to itself. The shape of a group is stored once per molecule type; an atom or constraint
// of a block is eight bytes that refer to it. The blocks follow from the topology and are valid for the run;
// only slots change. Cost: 8 bytes per atom, 4 per water and star, 8 more per atom and constraint of a block.
#pragma once

#include "base/host_device.hpp"
#include "dynamics/lincs.hpp"
#include "dynamics/settle.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace parhelion {

inline constexpr int update_block_size = 128; // threads of a block; its atoms, unless a LINCS group is larger

// An atom of a shape, which all copies of a group of constraints have. Indices count from the group's first atom or constraint.
struct ShapeAtom
{
    double inverse_mass = 0;
    std::int32_t first_end = 0, ends = 0; // its constraints: BlockShapes::ends [first_end, first_end + ends)
};
struct ShapeBond
{
    std::int32_t a = 0, b = 0;
    std::int32_t first_coupled = 0, coupled = 0; // range in BlockShapes::coupled and BlockShapes::coefficient
    double length = 0, weight = 0;               // nm; LincsGroup::weight
};
struct ShapeEnd // the end of a constraint at an atom
{
    std::int32_t bond = 0;
    float sign = 0; // sign of the displacement along the constraint's direction: -1 for atom a, +1 for b
};
struct BlockShapes
{
    std::vector<ShapeAtom> atoms;
    std::vector<ShapeBond> bonds;
    std::vector<ShapeEnd> ends;
    std::vector<std::int32_t> coupled;
    std::vector<double> coefficient;
};

// An atom or a constraint of an update block: its shape, and its group.
struct BlockMember
{
    std::int32_t shape = 0; // index into BlockShapes::atoms or bonds
    std::int16_t group = 0; // index of the group in the block
    std::int16_t unused = 0;
};
struct BlockGroup // a group of constraints in an update block
{
    std::int32_t first_atom = 0, first_bond = 0; // indices in the block
    std::int32_t series_order = 0, has_triangle = 0;
};
struct UpdateBlock
{
    std::int32_t first_atom = 0, atoms = 0; // range in UpdateBlocks::atoms and UpdateBlocks::global_atoms
    std::int32_t first_bond = 0, bonds = 0; // range in UpdateBlocks::bonds
    std::int32_t first_group = 0, groups = 0;
    std::int32_t series_order = 0; // largest order of the series of its groups
    std::int32_t couplings = 0;    // number of matrix elements of all its constraints
    std::int64_t arena = 0;        // offset of its working arrays in global memory, bytes; unused in shared memory
};

// Returns the bytes of the working arrays of one block (gpu/lincs_block.cuh). A long chain has 144 bytes per atom.
PARHELION_HD constexpr std::size_t lincs_arena_bytes(const UpdateBlock& block)
{
    return static_cast<std::size_t>(block.atoms) * 2 * sizeof(Vec3<double>) +
           static_cast<std::size_t>(block.bonds) * (2 * sizeof(Vec3<double>) + 4 * sizeof(double)) +
           static_cast<std::size_t>(block.couplings) * sizeof(double) +
           static_cast<std::size_t>(block.groups) * sizeof(std::int32_t);
}

// The placement of the working arrays of update blocks. They are in shared memory if those of all
// blocks fit there. Otherwise they are in global memory, which is slower and has no such limit.
struct LincsArenas
{
    std::size_t largest = 0; // bytes of the block with the largest arrays
    std::size_t all = 0;     // bytes of all arrays in global memory; 0: they are in shared memory
};
// Places the working arrays of `blocks` on a GPU whose thread blocks may have `shared` bytes of shared memory in total.
LincsArenas plan_arenas(std::vector<UpdateBlock>& blocks, std::size_t shared);
// The bytes of shared memory that the kernels need, at most, besides the arena.
inline constexpr std::size_t shared_beside_arena = 4 * 1024;

// Returns how many thread blocks of the update may wait for other ranks on each multiprocessor before another
// kernel of this rank, for which those ranks wait, has started. A block has `shared_of_block` bytes of dynamic
// shared memory, a multiprocessor `shared_of_multiprocessor`. At least one place stays free, so that the kernel can
// start on any multiprocessor. Returns 0 if blocks need more than the default. A multiprocessor then changes its
// carveout, and kernels with another carveout may not run beside them (hazard D3 of docs/design/communication.md).
int most_waiting_blocks(std::size_t shared_of_block, std::size_t shared_of_multiprocessor);

inline constexpr int largest_star = 4; // largest number of constraints of a star

// The shape of a star, the same in all copies of a molecule. Atoms: the centre, then outer atoms in the order of constraints.
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
    int site;                  // index in the molecule
    double weight_a, weight_b; // weights of the hydrogens; the oxygen's weight makes the sum 1
};

// Stars with the same number of constraints. With 0 constraints they are free atoms, which have no shape.
struct Stars
{
    std::vector<std::int32_t> atoms; // global atoms of each star: centre, outer atoms
    std::vector<std::int32_t> shape; // index of each star's shape
};

struct UpdateBlocks
{
    // Waters: the kinds of water; for each water its global atoms O H H, and the index of its kind.
    std::vector<SettleWater> water_kinds;
    std::vector<std::int32_t> water_atoms, kind_of_water;
    // Waters with a site: the kinds; for each water its global atoms O H H and site, and the index of its kind.
    std::vector<SiteWater> site_water_kinds;
    std::vector<std::int32_t> site_water_atoms, kind_of_site_water;
    std::vector<StarShape> star_shapes;
    std::array<Stars, largest_star + 1> stars; // indexed by number of constraints
    // The update blocks, which have all other atoms.
    BlockShapes shapes;
    std::vector<UpdateBlock> blocks;
    std::vector<std::int32_t> global_atoms; // global atoms of all blocks
    std::vector<BlockMember> atoms, bonds;
    std::vector<std::int32_t> bond_couplings; // for each bond: index in the block of its first matrix element
    std::vector<BlockGroup> groups;

    std::int64_t all_atoms = 0; // number of atoms in the system

    std::int64_t waters() const { return static_cast<std::int64_t>(kind_of_water.size() + kind_of_site_water.size()); }
    std::int64_t constraints() const
    {
        auto count = 3 * waters() + static_cast<std::int64_t>(bonds.size());
        for (std::size_t n = 1; n < stars.size(); ++n) { count += static_cast<std::int64_t>(n * stars[n].shape.size()); }
        return count;
    }
};

// Returns whether every virtual site belongs to a water, and no water has two. If so, the
// update moves all sites. Otherwise it moves none, and gpu/virtual_sites_gpu.hpp moves all.
bool all_sites_are_of_waters(const Topology& topology);

// Returns the blocks. Every atom is in one water, star or block, except virtual sites that
// other kernels move. Precondition: the masses have passed the checks of the CPU's Constraints.
UpdateBlocks make_update_blocks(const Topology& topology, const LincsSettings& settings);

} // namespace parhelion
