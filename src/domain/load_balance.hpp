// SPDX-License-Identifier: Apache-2.0
// Moves the borders of cells so that all ranks work equally long. This file has pure functions of measured times.
//
// The idea: each dimension has one list of borders, which go through the whole box. The work of a layer of cells is taken
// as even within the layer. Then the sum of the work up to a coordinate is a line with bends, and the wanted borders are where
// this line reaches equal parts. A border moves by a part of the way at a time, as the work within a layer is not even.
// It never moves beyond the middle of a cell next to it, so that atoms only change to neighbouring cells. No cell becomes
// thinner than a limit, so that halos come from no more cells than on equal cells.
//
// Measured times are noisy. LoadBalancer therefore moves borders only while that makes ranks more equal, and then rests
// until they differ clearly more than before. Cost: some multiplications for each layer, once in some list intervals.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "domain/balancing.hpp"
#include "domain/cell_grid.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace parhelion {

// The time of one rank's work over some steps, s. Waiting for other ranks is not work.
struct RankWork
{
    double of_atoms = 0; // work that moves with the atoms: pairs, bonded terms, lists, integration, splines of the mesh
    double other = 0;    // work that stays with the rank: the transforms of the mesh

    double sum() const { return of_atoms + other; }
};

// Returns how much longer than the mean the slowest rank works, as a fraction of the mean; 0 if nothing was measured.
double imbalance(std::span<const RankWork> work);

// Returns the smallest thickness of a cell as a fraction of the box edge, by dimension; at most that of equal cells. A halo of
// `reach` (nm) then comes from no more cells than with equal cells. Precondition: `grid` fits the box.
std::array<double, 3> thinnest_cells(const CellGrid& grid, const Box<double>& box, const Vec3<double>& reach);

// Returns the borders between cells, by dimension, in box edges.
std::array<std::vector<double>, 3> borders_in_edges(const CellGrid& grid);

// Returns the grid with its borders moved towards equal work. work: by rank with a cell. thinnest: thinnest_cells().
CellGrid with_moved_borders(const CellGrid& grid, std::span<const RankWork> work, const std::array<double, 3>& thinnest);

// What balancing has found and done in a run.
struct BalanceRecord
{
    double first_imbalance = 0; // imbalance before the first move of a border
    double imbalance = 0;       // latest
    int moves = 0;              // number of times that borders have moved
};

class LoadBalancer
{
public:
    // choice: not Off, or consider() never moves a border. thinnest: thinnest_cells().
    LoadBalancer(Balancing choice, const std::array<double, 3>& thinnest) : choice_(choice), thinnest_(thinnest) {}

    // Takes the work since the last call, by rank. Returns the grid to use from now on, or nothing if `now` stays.
    // All ranks get the same result, if they pass the same arguments.
    std::optional<CellGrid> consider(const CellGrid& now, std::span<const RankWork> work);

    bool is_on() const { return choice_ != Balancing::Off; }
    bool has_measured() const { return has_measured_; } // consider() has been called
    const BalanceRecord& record() const { return record_; }

private:
    double start_threshold() const { return choice_ == Balancing::On ? 0.05 : 0.1; }
    void rest(double imbalance);

    Balancing choice_;
    std::array<double, 3> thinnest_;
    bool has_measured_ = false, is_moving_ = false;
    int times_over_ = 0;    // consecutive calls at rest with a large imbalance that clearly differs from resting_
    double resting_ = 0;    // imbalance that was left when moves ended; 0: they removed it
    double best_ = 0;       // smallest imbalance since moves began
    int moves_in_vain_ = 0; // moves since best_ was found, which gained nothing
    BalanceRecord record_;
};

} // namespace parhelion
