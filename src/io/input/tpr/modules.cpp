// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/modules.hpp"

namespace parhelion {

namespace {

void skip_truths(TprCursor& cursor, int count)
{
    for (int i = 0; i < count; ++i) { cursor.truth(); }
}

void skip_counted_reals(TprCursor& cursor)
{
    cursor.skip_reals(cursor.count("weights", static_cast<std::size_t>(cursor.real_bytes)));
}

void skip_pull_coordinate(TprCursor& cursor, int version)
{
    constexpr int external_potential = 5, first_with_expression = 124;
    if (cursor.integer() == external_potential) { cursor.text(); } // provider
    cursor.skip_integers(1);                                       // geometry
    skip_atoms(cursor);                                            // groups
    cursor.skip_integers(3);                                       // dim
    if (version >= first_with_expression) { cursor.text(); }
    cursor.skip_reals(6); // origin, vec
    cursor.truth();       // start
    cursor.skip_reals(4); // init, rate, k, kB
}

void skip_bias(TprCursor& cursor, int version)
{
    constexpr int first_with_growth = 130, first_with_metric = 132, first_with_tolerance = 138;
    cursor.skip_integers(1); // target
    cursor.skip_doubles(2);  // beta scaling, cutoff
    cursor.skip_integers(1); // growth
    if (version >= first_with_growth) { cursor.skip_doubles(1); }
    cursor.skip_integers(1); // user data
    if (version >= first_with_metric) { cursor.truth(), cursor.skip_doubles(1); }
    cursor.skip_doubles(1); // error-init
    const std::size_t dimensions = cursor.count("dimensions", 64);
    cursor.skip_integers(1); // share-group
    cursor.truth();          // equilibrate-histogram
    if (version >= first_with_tolerance) { cursor.skip_doubles(1); }
    for (std::size_t i = 0; i < dimensions; ++i)
    {
        cursor.skip_integers(2); // provider, coordinate
        cursor.skip_doubles(7);
    }
}

} // namespace

void skip_atoms(TprCursor& cursor) { cursor.skip_integers(cursor.count("atoms", 4)); }

void skip_pulling(TprCursor& cursor, int version)
{
    constexpr int first_with_reference = 114, first_with_averages = 116;
    const std::size_t groups = cursor.count("pull groups", 12), coordinates = cursor.count("pull coordinates", 12);
    cursor.skip_reals(2);    // cylinder-r, constr-tol
    skip_truths(cursor, 3);  // print-com, print-ref-value, print-components
    cursor.skip_integers(2); // nstxout, nstfout
    if (version >= first_with_reference) { cursor.truth(); }
    for (std::size_t i = 0; i < groups; ++i)
    {
        skip_atoms(cursor);
        skip_counted_reals(cursor);
        cursor.skip_integers(1); // pbc atom
    }
    for (std::size_t i = 0; i < coordinates; ++i) { skip_pull_coordinate(cursor, version); }
    if (version >= first_with_averages) { skip_truths(cursor, 2); }
}

void skip_weight_histograms(TprCursor& cursor, int version)
{
    const std::size_t biases = cursor.count("biases", 40);
    cursor.skip_integers(1); // nstout
    cursor.long_integer();   // seed
    cursor.skip_integers(3); // nstsample, nsamples-update, potential
    cursor.truth();          // share-multisim
    for (std::size_t i = 0; i < biases; ++i) { skip_bias(cursor, version); }
}

void skip_rotation(TprCursor& cursor)
{
    const std::size_t groups = cursor.count("rotation groups", 80);
    cursor.skip_integers(2); // nstrout, nstsout
    for (std::size_t i = 0; i < groups; ++i)
    {
        cursor.skip_integers(2); // type, massw
        const std::size_t atoms = cursor.count("atoms", 4 + 3 * static_cast<std::size_t>(cursor.real_bytes));
        cursor.skip_integers(atoms);
        cursor.skip_reals(3 * atoms); // reference
        cursor.skip_reals(6);         // vec, pivot
        cursor.skip_reals(5);         // rate, k, slab-dist, min-gauss, eps
        cursor.skip_integers(2);      // fit, potfit-nsteps
        cursor.skip_reals(1);         // potfit-step
    }
}

void skip_swapping(TprCursor& cursor)
{
    const std::size_t groups = cursor.count("swap groups", 12);
    for (std::size_t i = 0; i < groups; ++i)
    {
        cursor.text();
        skip_atoms(cursor);
        cursor.skip_integers(2); // wanted in A and B
    }
    skip_truths(cursor, 2);  // mass-weighted
    cursor.skip_integers(2); // frequency, coupl-steps
    cursor.skip_reals(9);    // threshold, two cylinders, bulk offsets
}

void skip_free_energy(TprCursor& cursor, int version, std::size_t& lambdas)
{
    constexpr int components = 7, first_with_gapsys = 125;
    cursor.skip_integers(1); // init-lambda-state
    cursor.skip_doubles(2);  // init-lambda, delta-lambda
    lambdas = cursor.count("lambdas", 8);
    for (int i = 0; i < components && lambdas > 0; ++i)
    {
        cursor.skip_doubles(lambdas);
        skip_truths(cursor, components); // separate-dvdl
    }
    cursor.skip_reals(1);    // sc-alpha
    cursor.skip_integers(1); // sc-power
    cursor.skip_reals(2);    // sc-r-power, sc-sigma
    cursor.truth();          // sc-coul
    cursor.skip_integers(4); // nstdhdl, separate-dhdl-file, dhdl-derivatives, dh-hist-size
    cursor.skip_doubles(1);  // dh-hist-spacing
    cursor.skip_integers(1); // dhdl-print-energy
    if (version >= first_with_gapsys)
    {
        cursor.skip_integers(1); // sc-function
        cursor.skip_reals(3);
    }
    cursor.skip_integers(1); // calc-lambda-neighbors
}

void skip_expanded_ensemble(TprCursor& cursor, int version, std::size_t lambdas)
{
    constexpr int first_with_counts = 136;
    if (lambdas > 0) { cursor.skip_reals(lambdas); } // weights
    if (version < first_with_counts && lambdas > 0) { cursor.truth(); }
    cursor.skip_integers(7); // nstexpanded to lmc-seed
    cursor.skip_reals(1);    // mc-temperature
    cursor.truth();          // symmetrized-transition-matrix
    cursor.skip_integers(3); // nst-transition-matrix, mininum-var-min, weight-c-range
    cursor.skip_reals(3);    // wl-scale, wl-ratio, init-wl-delta
    cursor.truth();          // wl-oneovert
    cursor.skip_integers(4); // lmc-weights-equil, numbers
    cursor.skip_reals(2);    // wl-delta, count-ratio
    if (version >= first_with_counts) { cursor.skip_reals(2 * lambdas); }
}

} // namespace parhelion
