// SPDX-License-Identifier: Apache-2.0
// check_groups(): the groups that parameters name.
#include "io/input/check.hpp"
#include "io/input/groups.hpp"
#include "model/minimisers.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace parhelion {

namespace {

class GroupCheck
{
public:
    GroupCheck(MdpInput& input, System& system, Diagnostics& diagnostics)
        : input_(input), p_(input.parameters), system_(system), diagnostics_(diagnostics), named_(system, diagnostics)
    {
    }

    // Checks that groups exist and do not overlap: each atom has one thermostat, one centre of mass, and one place in a frame.
    void run()
    {
        ErrorList errors;
        errors.attempt([&] { temperature_groups(); });
        errors.attempt([&] { disjoint(pointers(p_.com_groups), "comm-grps"); });
        errors.attempt([&] { disjoint(pointers(p_.compressed_groups), "compressed-x-grps"); });
        errors.attempt([&] { disjoint(names_of(p_.frozen_groups), "freezegrps"); });
        errors.attempt([&] { disjoint(names_of(p_.accelerated_groups), "acc-grps"); });
        errors.attempt([&] { energy_groups(); });
        errors.throw_if_any();
    }

private:
    [[noreturn]] void fail(const char* id, const char* key, const std::string& message) const
    {
        throw InputError(id, input_.where(key), message);
    }
    void warn(const char* id, const char* key, const std::string& message) { diagnostics_.warn(id, input_.where(key), message); }

    void temperature_groups()
    {
        std::vector<std::string*> coupled;
        for (TemperatureGroup& group : p_.temperature_groups) { coupled.push_back(&group.name); }
        const std::int64_t in_coupled = disjoint(coupled, "tc-grps");
        const bool couples = p_.thermostat != Thermostat::None || p_.integrator == Integrator::StochasticDynamics;
        const std::int64_t left = system_.topology.atom_count() - in_coupled;
        if (couples && !is_minimisation(p_.integrator) && left > 0)
        {
            fail("E153", "tc-grps",
                 std::to_string(left) + " atoms are in none of the temperature groups (their temperature would drift away). "
                                        "Add a group for them, or use tc-grps = System.");
        }
        if (left > 0 && !p_.temperature_groups.empty()) { add_rest(); }
    }
    void energy_groups()
    {
        std::vector<std::string> names = input_.energy_groups;
        const std::int64_t atoms = disjoint(pointers(names), "energygrps");
        if (!names.empty() && atoms < system_.topology.atom_count()) { names.emplace_back("rest"); } // the name that GROMACS uses
        if (names.size() < 2) { return; }
        std::string pairs;
        for (std::size_t a = 0; a < names.size(); ++a)
        {
            for (std::size_t b = a; b < names.size(); ++b) { pairs += (pairs.empty() ? "" : ", ") + names[a] + "-" + names[b]; }
        }
        warn("W170", "energygrps",
             "energygrps = " + input_.entries.find("energygrps")->second.value +
                 ": energies between groups are not computed (planned), so that Coul-SR, LJ-SR, Coul-14 and LJ-14 of " + pairs +
                 " will be missing in the .edr. Those of the whole system are written.");
    }
    // Adds a temperature group without coupling for the atoms in no group. It has the name that GROMACS gives it.
    void add_rest()
    {
        std::vector<bool> taken(static_cast<std::size_t>(system_.topology.atom_count()), false);
        for (const TemperatureGroup& group : p_.temperature_groups)
        {
            for (const std::int64_t atom : system_.groups.at(group.name)) { taken[static_cast<std::size_t>(atom)] = true; }
        }
        std::string name = "rest";
        while (system_.groups.contains(name)) { name += '_'; }
        std::vector<std::int64_t>& rest = system_.groups[name];
        for (std::size_t i = 0; i < taken.size(); ++i)
        {
            if (!taken[i]) { rest.push_back(static_cast<std::int64_t>(i)); }
        }
        p_.temperature_groups.push_back({name, -1, 0});
    }
    static std::vector<std::string*> pointers(std::vector<std::string>& names)
    {
        std::vector<std::string*> list;
        for (std::string& name : names) { list.push_back(&name); }
        return list;
    }
    template <class Group>
    static std::vector<std::string*> names_of(std::vector<Group>& groups)
    {
        std::vector<std::string*> list;
        for (Group& group : groups) { list.push_back(&group.name); }
        return list;
    }
    bool holds(const std::string& name, std::int64_t atom) const
    {
        const auto group = system_.groups.find(name);
        return group == system_.groups.end() || std::ranges::find(group->second, atom) != group->second.end();
    }
    // Replaces names by names of the system's groups. Returns the total number of atoms in these groups.
    std::int64_t disjoint(const std::vector<std::string*>& names, const char* key)
    {
        const std::int64_t atoms = system_.topology.atom_count();
        std::vector<bool> taken(names.size() > 1 ? static_cast<std::size_t>(atoms) : 0, false);
        std::int64_t together = 0;
        for (std::string* const name : names)
        {
            *name = named_.require(*name, input_.where(key));
            const auto group = system_.groups.find(*name);
            const bool whole = group == system_.groups.end();
            together += whole ? atoms : static_cast<std::int64_t>(group->second.size());
            for (std::int64_t i = 0; i < atoms && !taken.empty(); ++i)
            {
                if (!whole && i == static_cast<std::int64_t>(group->second.size())) { break; }
                const std::int64_t atom = whole ? i : group->second[static_cast<std::size_t>(i)];
                if (taken[static_cast<std::size_t>(atom)])
                {
                    const std::string& other = **std::ranges::find_if(names, [&](const auto* n) { return holds(*n, atom); });
                    if (other == *name) { fail("E154", key, key + (" names " + *name) + " twice. Remove one of the two."); }
                    fail("E154", key,
                         system_.topology.describe(atom) + " is in more than one group of " + key + ", " + other + " and " +
                             *name + ". Each atom may be in one only.");
                }
                taken[static_cast<std::size_t>(atom)] = true;
            }
        }
        return together;
    }

    MdpInput& input_;
    RunParameters& p_;
    System& system_;
    Diagnostics& diagnostics_;
    Groups named_;
};

} // namespace

void check_groups(MdpInput& input, System& system, Diagnostics& diagnostics) { GroupCheck(input, system, diagnostics).run(); }

} // namespace parhelion
