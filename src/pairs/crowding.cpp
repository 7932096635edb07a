// SPDX-License-Identifier: Apache-2.0
#include "pairs/crowding.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace parhelion {

namespace {

// The number of classes is limited, because each occupied cell has a count for each class.
constexpr std::size_t most_classes = 32;

// The cells that divide the box. A huge box has too many cells to store each of them.
class Cells
{
public:
    // Divides the box into cells of about `width`. If is_shifted, the cells are shifted by half a cell.
    Cells(const Box<double>& box, double width, bool is_shifted)
    {
        const Vec3<double> heights = box.heights();
        constexpr double most = 1 << 20; // cells along an edge; the index of a cell has three such numbers
        for (int d = 0; d < 3; ++d)
        {
            count_[d] = static_cast<std::uint64_t>(std::clamp(std::floor(heights[d] / width), 1.0, most));
            if (is_shifted) { shift_[d] = static_cast<std::uint32_t>((std::uint64_t{1} << 31) / count_[d]); }
        }
    }
    std::uint64_t size() const { return count_[0] * count_[1] * count_[2]; }
    std::uint64_t operator()(const Vec3<std::uint32_t>& x) const
    {
        std::uint64_t cell = 0;
        for (int d = 0; d < 3; ++d)
        {
            const std::uint32_t shifted = x[d] + shift_[d]; // wraps around the box
            cell = cell * count_[d] + (shifted * count_[d] >> 32);
        }
        return cell;
    }

private:
    std::array<std::uint64_t, 3> count_{};
    std::array<std::uint32_t, 3> shift_{};
};

// The number of atoms of each class, in each occupied cell.
class Occupation
{
public:
    Occupation(std::uint64_t cells, std::size_t atoms, std::size_t classes) : classes_(classes), is_dense_(cells <= 4 * atoms)
    {
        if (is_dense_) { counts_.resize(cells * classes); }
    }
    std::int64_t& operator()(std::uint64_t cell, std::size_t of_class)
    {
        if (is_dense_) { return counts_[cell * classes_ + of_class]; }
        const auto [place, is_new] = places_.try_emplace(cell, places_.size());
        if (is_new) { counts_.resize(counts_.size() + classes_); }
        return counts_[place->second * classes_ + of_class];
    }
    // Returns for two classes the sum over cells of n_a n_b; for one class the sum of n (n - 1).
    std::vector<double> pairs() const
    {
        std::vector<std::int64_t> sums(classes_ * classes_);
        for (std::size_t first = 0; first < counts_.size(); first += classes_)
        {
            for (std::size_t a = 0; a < classes_; ++a)
            {
                const std::int64_t n = counts_[first + a];
                for (std::size_t b = 0; n > 0 && b < classes_; ++b)
                {
                    sums[a * classes_ + b] += n * (counts_[first + b] - (a == b ? 1 : 0));
                }
            }
        }
        return {sums.begin(), sums.end()};
    }

private:
    std::size_t classes_;
    bool is_dense_;
    std::vector<std::int64_t> counts_;
    std::unordered_map<std::uint64_t, std::size_t> places_;
};

// Returns the number of pairs of a molecule's atoms that share a cell and exclude each other. Each pair counts twice.
std::int64_t excluded_pairs(const MoleculeType& molecule, const std::vector<std::uint64_t>& cell_of_atom)
{
    std::int64_t pairs = 0;
    for (std::size_t a = 0; a + 1 < molecule.exclusion_start.size(); ++a)
    {
        for (auto e = static_cast<std::size_t>(molecule.exclusion_start[a]);
             e < static_cast<std::size_t>(molecule.exclusion_start[a + 1]); ++e)
        {
            pairs += cell_of_atom[a] == cell_of_atom[static_cast<std::size_t>(molecule.excluded[e])];
        }
    }
    return pairs;
}

// Returns the number of pairs of atoms that share a cell, for each pair of classes.
std::vector<double> pairs_in_cells(const Topology& topology, const Cells& cells, std::span<const Vec3<std::uint32_t>> x)
{
    const auto classes = static_cast<std::size_t>(crowding_classes(topology));
    Occupation occupation(cells.size(), x.size(), classes);
    std::vector<std::int64_t> excluded(classes);
    std::vector<std::uint64_t> cell_of_atom;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& molecule = topology.molecule_types[static_cast<std::size_t>(block.type)];
        const auto of_class = static_cast<std::size_t>(crowding_class(topology, block.type));
        cell_of_atom.resize(molecule.atoms.size());
        auto atom = static_cast<std::size_t>(block.first_atom);
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (std::uint64_t& cell : cell_of_atom) { ++occupation(cell = cells(x[atom++]), of_class); }
            excluded[of_class] += excluded_pairs(molecule, cell_of_atom);
        }
    }
    std::vector<double> pairs = occupation.pairs();
    for (std::size_t a = 0; a < classes; ++a) { pairs[a * classes + a] -= static_cast<double>(excluded[a]); }
    return pairs;
}

} // namespace

int crowding_classes(const Topology& topology)
{
    const std::size_t types = topology.molecule_types.size();
    return types <= most_classes ? static_cast<int>(types) : 1;
}

int crowding_class(const Topology& topology, std::int32_t molecule_type)
{
    return topology.molecule_types.size() <= most_classes ? molecule_type : 0;
}

std::vector<double> measure_crowding(const Topology& topology, const Box<double>& box, double width, double even_volume,
                                     std::span<const Vec3<std::uint32_t>> x)
{
    PARHELION_EXPECTS(width > 0 && even_volume > 0 && x.size() == static_cast<std::size_t>(topology.atom_count()));
    const auto classes = static_cast<std::size_t>(crowding_classes(topology));
    std::vector<double> atoms(classes), crowding(classes * classes);
    for (const MoleculeBlock& block : topology.blocks)
    {
        const double of_copy = static_cast<double>(topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size());
        atoms[static_cast<std::size_t>(crowding_class(topology, block.type))] += of_copy * static_cast<double>(block.count);
    }
    const double volume = box.volume();
    for (const bool is_shifted : {false, true})
    {
        const Cells cells(box, width, is_shifted);
        const std::vector<double> pairs = pairs_in_cells(topology, cells, x);
        const double of_even_box = volume / (static_cast<double>(cells.size()) * even_volume); // even number of pairs / (N_a N_b)
        for (std::size_t a = 0; a < classes; ++a)
        {
            for (std::size_t b = 0; b < classes; ++b)
            {
                const double even = of_even_box * atoms[a] * atoms[b];
                double& largest = crowding[a * classes + b];
                if (even > 0) { largest = std::max(largest, pairs[a * classes + b] / even); }
            }
        }
    }
    return crowding;
}

} // namespace parhelion
