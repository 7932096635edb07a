// SPDX-License-Identifier: Apache-2.0
// Decides which pairs of atoms a rank computes when atoms are spread over a grid of cells, one cell per rank.
//
// The idea (neutral territory, the eighth-shell method: Liem, Brown, Clarke, Comput. Phys. Commun. 67, 261 (1991); Bowers,
// Dror, Shaw, J. Chem. Phys. 124, 184109 (2006)): a pair belongs to the cell at the lower corner of its two atoms. In each
// dimension this is the cell of the atom that is behind the other, by the short way around the box. So a rank needs atoms
// from ahead only. Every pair is computed once, sometimes by a rank that owns neither atom. The cell of an atom is its
// owner's, wherever the atom has moved. Cost: a look-up in a small table per pair of clusters. Pairs of atoms are tested only
// if two cells are neighbours in both directions around the box (two cells in a dimension, or three with second neighbours).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace parhelion {

// The cell at one offset from this rank's cell, with the atoms of one rank; zone 0 is home. Coordinates are in 2^-32 box edges.
struct Zone
{
    int offset[3] = {0, 0, 0};           // number of cells ahead
    std::uint32_t centre[3] = {0, 0, 0}; // centre of the zone's cell
    std::uint32_t half[3] = {0, 0, 0};   // half the cell's width; 0 in a dimension of one cell

    // Returns how far x is ahead of the middle of the zone's cell, after x is moved into the cell. Because
    // of the move, the order of two atoms does not depend on how far they are outside of their cells.
    std::int32_t from_centre(int d, std::uint32_t x) const
    {
        const auto h = static_cast<std::int32_t>(half[d]);
        return std::clamp(static_cast<std::int32_t>(x - centre[d]), -h, h - 1);
    }
    std::uint32_t in_cell(int d, std::uint32_t x) const { return centre[d] + static_cast<std::uint32_t>(from_centre(d, x)); }
};

// Says which pairs of two clusters a rank computes: none, all, or only those pairs whose atom
// of the farther zone is ahead by the short way around the box, in each dimension of `ask`.
struct Claim
{
    bool none = false;
    std::uint8_t ask = 0; // bit d: dimension d
};

class Territory
{
public:
    // Makes the territory of a lone rank: all atoms are home.
    Territory() = default;
    // zones[0] is home. cells: numbers of cells of the grid. pulses: from how many cells ahead halo atoms may come, < cells.
    Territory(std::vector<Zone> zones, const int (&cells)[3], const int (&pulses)[3]);

    bool is_everything() const { return zones_.size() <= 1; }
    // Adds halo clusters of `zone`, behind those of earlier calls.
    void append(std::uint16_t zone, std::size_t clusters);
    const Zone& zone(std::size_t z) const { return zones_[z]; }
    std::size_t zones() const { return zones_.size(); }
    // Returns the zone of a cluster. home_clusters: number of home clusters, which come before the halo.
    std::uint16_t zone_of(std::size_t cluster, std::size_t home_clusters) const
    {
        return cluster < home_clusters ? std::uint16_t{0} : zone_of_halo_cluster_[cluster - home_clusters];
    }
    Claim claim(std::uint16_t a, std::uint16_t b) const { return claims_[a * zones_.size() + b]; }

    // Returns which pairs this rank computes between four atoms of a cluster in zone a (i) and eight of one in zone b (j), as
    // bits 8 * i + j. xi, xj: leading 32 bits of positions, components 8 words apart, as in ClusterArray. Precondition: the atoms
    // of a pair that matters, each moved into its owner's cell, are nearer than half the box in each dimension of `ask`.
    std::uint32_t claimed(std::uint16_t a, std::uint16_t b, std::uint8_t ask, const std::uint32_t* xi,
                          const std::uint32_t* xj) const;

    // The place of an atom: the zone of its cluster, and its coordinates in 2^-32 box edges.
    struct Place
    {
        std::uint16_t zone = 0;
        std::uint32_t x[3] = {0, 0, 0};
    };
    // Returns true if this rank's cell is at the lower corner of the atoms. The precondition of claimed() holds for it as well.
    bool is_corner_home(const Place* places, int count) const;

private:
    std::vector<Zone> zones_;
    std::vector<Claim> claims_; // claim of zones a and b: [a * zones + b]
    std::vector<std::uint16_t> zone_of_halo_cluster_;
};

} // namespace parhelion
