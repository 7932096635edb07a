// SPDX-License-Identifier: Apache-2.0
#include "io/input/mass_repartition.hpp"

#include "io/input/mdp_value.hpp"
#include "model/ties.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace parhelion {

namespace {

double smallest_mass(const Topology& topology)
{
    double smallest = std::numeric_limits<double>::infinity();
    for (const MoleculeBlock& block : topology.blocks)
    {
        if (block.count == 0) { continue; }
        for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
        {
            if (atom.mass > 0) { smallest = std::min(smallest, atom.mass); }
        }
    }
    return smallest;
}

// Moves mass between atoms of one molecule type.
class Repartition
{
public:
    Repartition(double least, const SourceLocation& where, MoleculeType& type, Diagnostics& diagnostics)
        : least_(least), where_(where), type_(type), diagnostics_(diagnostics), before_(type.atoms), lends_(type.atoms.size())
    {
    }
    void run(const std::vector<Tie>& ties)
    {
        std::vector<std::vector<std::int32_t>> partners(before_.size());
        for (const Tie& tie : ties)
        {
            if (is_site(tie.a) || is_site(tie.b)) { continue; }
            partners[static_cast<std::size_t>(tie.a)].push_back(tie.b);
            partners[static_cast<std::size_t>(tie.b)].push_back(tie.a);
        }
        for (std::size_t light = 0; light < before_.size(); ++light)
        {
            if (is_light(light)) { borrow(light, partners[light]); }
        }
        for (std::size_t atom = 0; atom < before_.size(); ++atom)
        {
            constexpr double rounding = 1e-12;
            if (!lends_[atom] || type_.atoms[atom].mass >= least_ * (1 - rounding)) { continue; }
            fail("E571", name(atom) + " would have " + number_text(type_.atoms[atom].mass) +
                             " u left, less than the least mass of " + number_text(least_) +
                             " u (it would be the next to be too light). Use a smaller factor.");
        }
    }

private:
    bool is_site(std::int32_t atom) const
    {
        return before_[static_cast<std::size_t>(atom)].mass == 0;
    } // the atom neither gets nor gives mass
    bool is_light(std::size_t atom) const { return before_[atom].mass > 0 && before_[atom].mass < least_; }
    std::string name(std::size_t atom) const
    {
        return "atom " + std::to_string(atom + 1) + " (" + before_[atom].name + ") of molecule type " + type_.name;
    }
    [[noreturn]] void fail(const char* id, const std::string& problem) const
    {
        throw InputError(id, where_, "mass-repartition-factor: " + problem);
    }

    void borrow(std::size_t light, std::vector<std::int32_t>& partners)
    {
        if (partners.size() > 1)
        {
            std::erase_if(partners, [&](std::int32_t other) { return is_light(static_cast<std::size_t>(other)); });
        }
        if (partners.size() != 1)
        {
            if (!partners.empty())
            {
                fail("E572", name(light) + " is bound to several atoms (which one lends it mass is not defined). Give masses in "
                                           "the topology instead.");
            }
            diagnostics_.warn("W190", where_,
                              "mass-repartition-factor: " + name(light) + " is lighter than " + number_text(least_) +
                                  " u and bound to no atom that could lend it mass: it keeps " +
                                  number_text(before_[light].mass) + " u.");
            return;
        }
        const auto lender = static_cast<std::size_t>(partners[0]);
        lends_[lender] = true;
        type_.atoms[lender].mass -= least_ - before_[light].mass;
        type_.atoms[light].mass += least_ - before_[light].mass;
    }

    const double least_;
    const SourceLocation& where_;
    MoleculeType& type_;
    Diagnostics& diagnostics_;
    const std::vector<Atom> before_;
    std::vector<bool> lends_; // for each atom: true if it gives mass
};

} // namespace

void repartition_masses(double factor, const SourceLocation& where, Topology& topology, Diagnostics& diagnostics)
{
    const double least = factor * smallest_mass(topology);
    if (!(factor > 1) || !std::isfinite(least)) { return; }
    for (MoleculeType& type : topology.molecule_types)
    {
        Repartition(least, where, type, diagnostics).run(ties_of(topology, type));
    }
    diagnostics.note("N192", where,
                     "masses of less than " + number_text(least) +
                         " u are raised to it, at the expense of the atoms they are "
                         "bound to.");
}

} // namespace parhelion
