// SPDX-License-Identifier: Apache-2.0
// The interaction functions by the numbers of run input files (.tpr), one row
// each: first file version, number of atoms, parameters, and treatment here.
#pragma once

#include "io/input/tpr/cursor.hpp"

#include "model/interactions.hpp"
#include "model/topology.hpp"

#include <string_view>
#include <vector>

namespace parhelion {

enum class TprUse : std::uint8_t
{
    Refused,     // a term that is not supported; it is reported by name
    Nothing,     // exerts no force
    Energy,      // no term of atoms, but the name of an energy
    NonBonded,   // a matrix of Lennard-Jones parameters
    Buckingham,  // a matrix of another pair law, which is refused
    Interaction, // an interaction, of kind `kind`
    Constraint,
    Settle,
    Site,    // a virtual site, of kind `site`
    SiteRow, // one constructing atom of a Mean
};

struct TprFunction
{
    std::string_view name; // name of the function in messages
    int since, until;      // first and last file version with this function
    int atoms;             // number of atoms of each entry
    // The numbers of a function type, in the order of the file: i is an integer, r a real, v
    // three reals. The first state_b numbers follow a second time, for state B, before `shared`.
    std::string_view own;
    int state_b = 0;
    std::string_view shared = "";
    TprUse use = TprUse::Refused;
    InteractionKind kind{};
    SiteKind site{};
};

// Returns the functions that a file version knows, in the order of their numbers.
std::vector<const TprFunction*> tpr_functions(int version);

// A function type: its numbers of state A, then the numbers that both states share.
struct TprFunctionType
{
    const TprFunction* function = nullptr;
    std::vector<double> parameters;
    bool differs_in_b = false;
};

// Reads the numbers of one function type, and returns them.
TprFunctionType read_function_type(TprCursor& cursor, const TprFunction& function);

} // namespace parhelion
