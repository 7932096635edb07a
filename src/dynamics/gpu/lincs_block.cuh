// SPDX-License-Identifier: Apache-2.0
// LINCS for all groups of an update block at once. Between two barriers each thread works on a
// constraint, or each on an atom. Method and symbols are those of lincs.hpp. An atom gathers
// forces in the order of its constraints, so its sum has the same bits as in the sequential code.
//
// Arithmetic is in double in every policy. All working arrays of a block are in one arena, which is in shared memory unless
// a group is too large for it. Cost: about 25 barriers for order 4 and one iteration; 150 flop per constraint and solution.
#pragma once

#include "dynamics/update_blocks.hpp"

namespace parhelion {

// The tables of UpdateBlocks in device memory.
struct UpdateBlocksView
{
    const ShapeAtom* shape_atoms;
    const ShapeBond* shape_bonds;
    const ShapeEnd* ends;
    const std::int32_t* coupled;
    const double* coefficient;
    const UpdateBlock* blocks;
    const BlockMember *atoms, *bonds;
    const std::int32_t* bond_couplings;
    const BlockGroup* groups;
};

// The working arrays of one block. They are in the block's arena, which has lincs_arena_bytes() bytes.
struct LincsArena
{
    Vec3<double>* move;      // per atom: displacement, input and output, nm
    Vec3<double>* before;    // per atom: free for use by the caller
    Vec3<double>* reference; // per constraint: x_a - x_b, nm
    Vec3<double>* direction;
    double *rhs, *next, *solution, *multiplier;
    double* matrix;
    std::int32_t* goes_on; // per group: 1 if it needs another iteration

    __device__ LincsArena(const UpdateBlock& block, void* arena)
    {
        move = static_cast<Vec3<double>*>(arena);
        before = move + block.atoms;
        reference = before + block.atoms;
        direction = reference + block.bonds;
        rhs = reinterpret_cast<double*>(direction + block.bonds);
        next = rhs + block.bonds;
        solution = next + block.bonds;
        multiplier = solution + block.bonds;
        matrix = multiplier + block.bonds;
        goes_on = reinterpret_cast<std::int32_t*>(matrix + block.couplings);
    }
};

class LincsBlock
{
public:
    // Every thread of the block constructs an object. `arena` belongs to this block alone.
    __device__ LincsBlock(const UpdateBlocksView& view, const UpdateBlock& block, void* arena)
        : view_(view), block_(block), arena_(block, arena)
    {
    }

    __device__ const UpdateBlock& block() const { return block_; }

    __device__ BlockMember atom(int i) const { return view_.atoms[block_.first_atom + i]; }
    __device__ BlockMember bond(int i) const { return view_.bonds[block_.first_bond + i]; }
    __device__ BlockGroup group(int g) const { return view_.groups[block_.first_group + g]; }
    __device__ const ShapeBond& shape(const BlockMember& bond) const { return view_.shape_bonds[bond.shape]; }
    __device__ Vec3<double>* move() const { return arena_.move; }
    __device__ Vec3<double>* before() const { return arena_.before; }
    __device__ Vec3<double>* reference() const { return arena_.reference; }
    __device__ const Vec3<double>* direction() const { return arena_.direction; }
    // Returns the multipliers. A constraint displaces its atoms by -+ inverse mass * multiplier * direction.
    __device__ const double* multiplier() const { return arena_.multiplier; }

    // Returns the atoms of a constraint as indices into move().
    __device__ int end_a(const BlockMember& bond) const { return group(bond.group).first_atom + shape(bond).a; }
    __device__ int end_b(const BlockMember& bond) const { return group(bond.group).first_atom + shape(bond).b; }
    __device__ Vec3<double> moved_bond(int i) const
    {
        const BlockMember b = bond(i);
        return arena_.reference[i] + (arena_.move[end_a(b)] - arena_.move[end_b(b)]);
    }

    // Constrains move(). Before the call, all threads must see move() and reference() written. After the call, all see move().
    __device__ void constrain(int iterations)
    {
        relaxes_ = false;
        set_directions_and_matrix();
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
        {
            const ShapeBond& s = shape(bond(i));
            arena_.multiplier[i] = 0;
            set_rhs(i, s.weight * (dot(arena_.direction[i], moved_bond(i)) - s.length));
        }
        solve_and_move();
        for (int iteration = 0;; ++iteration)
        {
            const int extra = iteration - iterations;
            for (int g = threadIdx.x; g < block_.groups; g += blockDim.x) { arena_.goes_on[g] = extra < 0 ? 1 : 0; }
            __syncthreads();
            int some_go_on = extra < 0 ? 1 : 0;
            for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
            {
                const BlockMember b = bond(i);
                const double length = shape(b).length, d2 = length * length;
                const double projection2 = 2 * d2 - norm2(moved_bond(i));
                set_rhs(i, shape(b).weight * (length - sqrt(projection2 > 0 ? projection2 : 0)));
                if (extra >= 0 && extra < LincsSettings::max_extra_iterations &&
                    fabs(projection2 / d2 - 1) > 2 * LincsSettings::tolerance)
                {
                    arena_.goes_on[b.group] = 1; // several threads may write the same value here
                    some_go_on = 1;
                }
            }
            if (__syncthreads_or(some_go_on) == 0) { return; }
            // Atoms of groups that need no further iteration do not move.
            for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
            {
                if (arena_.goes_on[bond(i).group] == 0) { set_rhs(i, 0); }
            }
            relaxes_ = extra >= LincsSettings::series_iterations;
            if (extra == LincsSettings::series_iterations) { take_back(); }
            else if (relaxes_) { relax(); }
            solve_and_move();
        }
    }

    // Removes from move() the part that changes constrained distances to first order. Barriers as in constrain().
    __device__ void project()
    {
        constexpr int most_refinements = 50;
        relaxes_ = true;
        set_directions_and_matrix();
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x) { arena_.multiplier[i] = 0; }
        for (int g = threadIdx.x; g < block_.groups; g += blockDim.x) { arena_.goes_on[g] = 1; }
        for (int refinement = 0; refinement < most_refinements; ++refinement)
        {
            int some_go_on = 0;
            for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
            {
                const BlockMember b = bond(i);
                const Vec3<double> move_a = arena_.move[end_a(b)], move_b = arena_.move[end_b(b)];
                const double along = dot(arena_.direction[i], move_a - move_b);
                set_rhs(i, shape(b).weight * along);
                if (along * along > 1e-27 * (norm2(move_a) + norm2(move_b))) { some_go_on = 1; }
            }
            if (__syncthreads_or(some_go_on) == 0) { return; }
            relax();
            solve_and_move();
        }
    }

private:
    __device__ void set_rhs(int i, double value)
    {
        arena_.rhs[i] = value;
        arena_.solution[i] = value;
    }
    __device__ void set_directions_and_matrix()
    {
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
        {
            arena_.direction[i] = (1 / sqrt(norm2(arena_.reference[i]))) * arena_.reference[i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
        {
            const BlockMember b = bond(i);
            const ShapeBond& s = shape(b);
            const int first_bond = group(b.group).first_bond;
            double* row = arena_.matrix + view_.bond_couplings[block_.first_bond + i];
            for (int k = 0; k < s.coupled; ++k)
            {
                const Vec3<double> other = arena_.direction[first_bond + view_.coupled[s.first_coupled + k]];
                row[k] = view_.coefficient[s.first_coupled + k] * dot(arena_.direction[i], other);
            }
        }
    }
    // Returns element i of the product A y.
    __device__ double coupled_sum(int i, const double* y) const
    {
        const BlockMember b = bond(i);
        const ShapeBond& s = shape(b);
        const int first_bond = group(b.group).first_bond;
        const double* row = arena_.matrix + view_.bond_couplings[block_.first_bond + i];
        double sum = 0;
        for (int k = 0; k < s.coupled; ++k) { sum += row[k] * y[first_bond + view_.coupled[s.first_coupled + k]]; }
        return sum;
    }
    __device__ bool is_relaxed(const BlockGroup& group) const { return relaxes_ && group.has_triangle != 0; }
    // Puts groups that will be relaxed back to their unconstrained positions.
    __device__ void take_back()
    {
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
        {
            const BlockMember b = bond(i);
            if (!is_relaxed(group(b.group)) || arena_.goes_on[b.group] == 0) { continue; }
            arena_.solution[i] = -arena_.multiplier[i] / shape(b).weight;
        }
    }
    // Solves groups with triangles by Gauss-Seidel sweeps, a thread per group: such groups are few and rarely need it.
    __device__ void relax()
    {
        __syncthreads();
        for (int g = threadIdx.x; g < block_.groups; g += blockDim.x)
        {
            const BlockGroup mine = group(g);
            if (!is_relaxed(mine) || arena_.goes_on[g] == 0) { continue; }
            const int end = g + 1 < block_.groups ? group(g + 1).first_bond : block_.bonds;
            for (int sweep = 0; sweep < mine.series_order; ++sweep)
            {
                for (int i = mine.first_bond; i < end; ++i)
                {
                    arena_.solution[i] = arena_.rhs[i] + coupled_sum(i, arena_.solution);
                }
            }
        }
    }
    // Solves (1 - A) y = rhs by the series, or takes the solution of relax(). Adds y to the multipliers and moves the atoms.
    __device__ void solve_and_move()
    {
        double *from = arena_.rhs, *to = arena_.next;
        for (int power = 1; power <= block_.series_order; ++power)
        {
            __syncthreads();
            for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
            {
                const BlockGroup g = group(bond(i).group);
                const double sum = power <= g.series_order && !is_relaxed(g) ? coupled_sum(i, from) : 0;
                to[i] = sum;
                arena_.solution[i] += sum;
            }
            double* const swap = from;
            from = to;
            to = swap;
        }
        for (int i = threadIdx.x; i < block_.bonds; i += blockDim.x)
        {
            const double multiplier = shape(bond(i)).weight * arena_.solution[i];
            arena_.multiplier[i] += multiplier;
            arena_.solution[i] = multiplier;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < block_.atoms; i += blockDim.x)
        {
            const BlockMember a = atom(i);
            const ShapeAtom& s = view_.shape_atoms[a.shape];
            const int first_bond = group(a.group).first_bond;
            Vec3<double> move = arena_.move[i];
            for (int e = s.first_end; e < s.first_end + s.ends; ++e)
            {
                const int bond = first_bond + view_.ends[e].bond;
                move += (view_.ends[e].sign * s.inverse_mass * arena_.solution[bond]) * arena_.direction[bond];
            }
            arena_.move[i] = move;
        }
        __syncthreads();
    }

    const UpdateBlocksView& view_;
    const UpdateBlock block_;
    LincsArena arena_;
    bool relaxes_ = false; // groups with triangles are relaxed in this iteration
};

} // namespace parhelion
