// SPDX-License-Identifier: Apache-2.0
// Physical constants in GROMACS' units: nm, ps, kJ/mol, u, e, K. Values: CODATA 2018 and the SI's exact ones.
#pragma once

namespace parhelion::units {

inline constexpr double boltzmann = 8.31446261815324e-3;         // kJ/(mol K)
inline constexpr double coulomb = 138.93545764438196;            // 1/(4 pi eps0), kJ nm/(mol e^2)
inline constexpr double volt = 96.48533212331;                   // 1 V in kJ/(mol e): e N_A (CODATA 2018)
inline constexpr double bar_per_kj_mol_nm3 = 16.605390671738466; // pressure: 1 kJ/(mol nm^3) in bar
inline constexpr double kg_per_m3 = 1.66053906660;               // density: 1 u/nm^3 in kg/m^3
inline constexpr double pi = 3.14159265358979323846;
inline constexpr double degree = pi / 180.0; // radian

} // namespace parhelion::units
