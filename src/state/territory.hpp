// SPDX-License-Identifier: Apache-2.0
// Which pairs of atoms a rank computes when atoms are spread over a grid of cells, one cell a rank.
//
// The idea (neutral territory, the eighth-shell method: Liem, Brown, Clarke, Comput. Phys. Commun. 67, 261 (1991); Bowers, Dror,
// Shaw, J. Chem. Phys. 124, 184109 (2006)): a pair belongs to the cell at the lower corner of its two atoms, in each dimension
// the cell of whichever atom is behind the other the short way round the box. So a rank needs atoms from ahead alone, and every
// pair is computed once, sometimes by a rank that owns neither atom. The cell of an atom is that of its owner, wherever it has
// moved since. Cost: a look into a small table per pair of clusters; only where two cells are neighbours both ways round the box
// (two cells in a dimension, or three with second neighbours) is each pair of atoms looked at.
#pragma once

#include <cstdint>
#include <vector>

namespace parhelion {

// The cells at one offset from this rank's, and so one other rank's atoms; zone 0 is home. Coordinates in leading bits.
struct Zone
{
    int offset[3] = {0, 0, 0};           // cells ahead
    std::uint32_t centre[3] = {0, 0, 0}; // of its cell
    std::uint32_t half[3] = {0, 0, 0};   // half the cell's width; 0 in a dimension of one cell
};

// What a rank makes of two clusters: none of their pairs, all, or those that are ahead the short way round in `ask`'s dimensions.
struct Claim
{
    bool none = false;
    std::uint8_t ask = 0; // bit d
};

class Territory
{
public:
    // A single rank's: everything is home.
    Territory() = default;
    // zones[0] is home. cells: of the grid. pulses: how many cells ahead halo atoms may come from, < cells.
    Territory(std::vector<Zone> zones, const int (&cells)[3], const int (&pulses)[3]);

    bool is_everything() const { return zones_.size() <= 1; }
    // In the order of the halo: clusters of `zone` follow those of the last call.
    void append(std::uint16_t zone, std::size_t clusters);
    const Zone& zone(std::size_t z) const { return zones_[z]; }
    std::size_t zones() const { return zones_.size(); }
    // home_clusters: clusters in front of the halo.
    std::uint16_t zone_of(std::size_t cluster, std::size_t home_clusters) const
    {
        return cluster < home_clusters ? std::uint16_t{0} : zone_of_halo_cluster_[cluster - home_clusters];
    }
    Claim claim(std::uint16_t a, std::uint16_t b) const { return claims_[a * zones_.size() + b]; }

    // Of the pairs between four atoms of a cluster in zone a (i) and eight of one in zone b (j), bit 8 * i + j: those that are
    // this rank's. xi, xj: leading bits, components 8 words apart, as ClusterArray stores them. Precondition: in each of `ask`'s
    // dimensions the atoms of a pair that matters are nearer than half the box, each moved into its owner's cell.
    std::uint32_t claimed(std::uint16_t a, std::uint16_t b, std::uint8_t ask, const std::uint32_t* xi,
                          const std::uint32_t* xj) const;

    // An atom: the zone of its cluster and its leading bits.
    struct Place
    {
        std::uint16_t zone = 0;
        std::uint32_t x[3] = {0, 0, 0};
    };
    // Is this rank's cell at the lower corner of the atoms? Precondition as for claimed().
    bool is_corner_home(const Place* places, int count) const;

private:
    std::vector<Zone> zones_;
    std::vector<Claim> claims_; // [a * zones + b]
    std::vector<std::uint16_t> zone_of_halo_cluster_;
};

} // namespace parhelion
