// SPDX-License-Identifier: Apache-2.0
#include "io/input/run_identity.hpp"

#include "io/input/mdp.hpp"
#include "io/input/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace parhelion {
namespace {

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<Vec3<T>> = true;

class Hash
{
public:
    template <class T>
    Hash& operator<<(const T& number)
    {
        static_assert(std::is_arithmetic_v<T>); // excludes types with padding
        XXH64_update(state_.get(), &number, sizeof number);
        return *this;
    }
    Hash& operator<<(const std::string& text)
    {
        *this << text.size();
        XXH64_update(state_.get(), text.data(), text.size());
        return *this;
    }
    template <class T>
    Hash& operator<<(const Vec3<T>& a)
    {
        return *this << a.x << a.y << a.z;
    }
    Hash& operator<<(const Box<double>& box)
    {
        *this << box.diagonal();
        return box.is_rectangular() ? *this : *this << box.tilt();
    }
    template <class T, std::size_t n>
    Hash& operator<<(const std::array<T, n>& list)
    {
        for (const T& element : list) { *this << element; }
        return *this;
    }
    template <class T>
    Hash& operator<<(const std::vector<T>& list)
    {
        *this << list.size();
        if constexpr (std::is_arithmetic_v<T> || is_vector<T>)
        {
            XXH64_update(state_.get(), list.data(), list.size() * sizeof(T));
        }
        else
        {
            for (const T& element : list) { *this << element; }
        }
        return *this;
    }
    Hash& operator<<(const Atom& a) { return *this << a.name << a.type << a.residue << a.mass << a.charge; }
    Hash& operator<<(const Residue& r) { return *this << r.name << r.number; }
    Hash& operator<<(const Constraint& c) { return *this << c.a << c.b << c.length; }
    Hash& operator<<(const Settle& s) { return *this << s.oxygen << s.hydrogen_a << s.hydrogen_b << s.oh << s.hh; }
    Hash& operator<<(const VirtualSite& s) { return *this << static_cast<int>(s.kind) << s.atom << s.from << s.parameters; }
    Hash& operator<<(const MoleculeType& m)
    {
        *this << m.name << m.atoms << m.residues;
        for (const InteractionRow& row : interaction_table) { add_terms(row, m.of(row.kind)); }
        *this << m.constraints << m.settles << m.exclusion_start << m.excluded;
        return m.sites.empty() ? *this : *this << m.sites;
    }
    Hash& operator<<(const MoleculeBlock& b) { return *this << b.type << b.count; }
    Hash& operator<<(const Topology& t)
    {
        *this << static_cast<int>(t.combination_rule) << t.fudge_qq << t.type_names << t.c6 << t.c12;
        for (const InteractionRow& row : interaction_table) { add_parameters(row, t.parameters_of(row.kind)); }
        return *this << t.molecule_types << t.blocks;
    }

    std::string text() const { return fmt::format("{:016x}", XXH64_digest(state_.get())); }

private:
    struct Free
    {
        void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
    };
    // Hashes at least four atoms of a term and six parameters, as the first versions did, so that their checkpoints stay valid.
    void add_terms(const InteractionRow& row, const std::vector<Interaction>& terms)
    {
        if (leaves_no_trace(row, terms.empty())) { return; }
        *this << terms.size();
        for (const Interaction& term : terms)
        {
            for (int i = 0; i < std::max(4, row.atoms); ++i) { *this << (i < row.atoms ? term.atoms[i] : -1); }
            *this << term.parameters;
        }
    }
    void add_parameters(const InteractionRow& row, const std::vector<InteractionParameters>& sets)
    {
        if (leaves_no_trace(row, sets.empty())) { return; }
        *this << sets.size();
        for (const InteractionParameters& p : sets)
        {
            for (std::size_t i = 0; i < std::max<std::size_t>(6, p.size()); ++i) { *this << (i < p.size() ? p[i] : 0.0); }
        }
    }
    // Returns whether a kind that a later version added is not hashed: then systems without it keep their hash.
    static bool leaves_no_trace(const InteractionRow& row, bool is_empty)
    {
        constexpr InteractionKind added[] = {InteractionKind::MorseBond,
                                             InteractionKind::CubicBond,
                                             InteractionKind::FeneBond,
                                             InteractionKind::BoundedBond,
                                             InteractionKind::QuarticAngle,
                                             InteractionKind::CrossBondBond,
                                             InteractionKind::CrossBondAngle,
                                             InteractionKind::RestrictedDihedral,
                                             InteractionKind::BendingTorsion,
                                             InteractionKind::NonbondedPair,
                                             InteractionKind::HarmonicPotential,
                                             InteractionKind::RestrictedAngle,
                                             InteractionKind::Cmap,
                                             InteractionKind::DistanceRestraint,
                                             InteractionKind::AngleRestraint,
                                             InteractionKind::AngleRestraintZ,
                                             InteractionKind::DihedralRestraint,
                                             InteractionKind::FlatBottomRestraint};
        return is_empty && std::ranges::find(added, row.kind) != std::end(added);
    }
    static XXH64_state_t* fresh()
    {
        XXH64_state_t* state = XXH64_createState();
        if (state == nullptr) { throw std::bad_alloc(); }
        XXH64_reset(state, 0);
        return state;
    }
    std::unique_ptr<XXH64_state_t, Free> state_{fresh()};
};

// Returns the text as JSON keeps it, where invalid UTF-8 is replaced.
std::string as_kept(std::string_view text)
{
    using Json = nlohmann::json;
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string group_hash(const System& system)
{
    Hash hash;
    for (const auto& [name, atoms] : system.groups) { hash << name << atoms; }
    return hash.text();
}

// Options that were added later, with the value that means unused. An unused
// option is left out of the identity, so that older checkpoints stay valid.
constexpr std::pair<std::string_view, std::string_view> later_options[] = {{"mass-repartition-factor", "1"},
                                                                           {"disre", "no"},
                                                                           {"disre-fc", "1000"},
                                                                           {"disre-tau", "0"},
                                                                           {"disre-weighting", "conservative"},
                                                                           {"ensemble-temperature-setting", "auto"},
                                                                           {"ensemble-temperature", "-1"},
                                                                           {"acc-grps", ""},
                                                                           {"accelerate", ""},
                                                                           {"freezegrps", ""},
                                                                           {"freezedim", ""},
                                                                           {"annealing", ""},
                                                                           {"annealing-npoints", ""},
                                                                           {"annealing-time", ""},
                                                                           {"annealing-temp", ""},
                                                                           {"electric-field-x", "0 0 0 0"},
                                                                           {"electric-field-y", "0 0 0 0"},
                                                                           {"electric-field-z", "0 0 0 0"}};

bool leaves_no_trace(const std::string& key, const std::string& value)
{
    return key == "nsteps" ||
           std::ranges::any_of(later_options, [&](const auto& o) { return o.first == key && o.second == value; });
}

std::string hash_of(const SavedState& state)
{
    Hash hash;
    std::visit([&](const auto& x) { hash << x; }, state.x);
    std::visit([&](const auto& v) { hash << v; }, state.v);
    for (const auto& [name, values] : state.coupling) { hash << name << values; }
    return hash.text();
}

} // namespace

NamedList<std::string> identify_run(const System& system, const RunParameters& parameters, const std::string& precision,
                                    const SavedState* start)
{
    NamedList<std::string> identity;
    identity.emplace_back("atoms", std::to_string(system.topology.atom_count()));
    identity.emplace_back("precision", precision);
    identity.emplace_back("topology", (Hash() << system.topology).text());
    identity.emplace_back("start configuration", (Hash() << system.box << system.x << system.v).text());
    if (start != nullptr) { identity.emplace_back("state handed over", hash_of(*start)); }
    identity.emplace_back("restraint reference", (Hash() << system.restraint_reference << system.restraint_reference_box).text());
    identity.emplace_back("index groups", group_hash(system));
    for (const auto& [key, value] : mdp_values(parameters))
    {
        const std::string kept = as_kept(trimmed(value));
        if (!leaves_no_trace(key, kept)) { identity.emplace_back(key, kept); }
    }
    return identity;
}

namespace {

// Options that determine only when and how precisely output is written. nstcalcenergy is one because it follows nstenergy.
constexpr std::string_view output_options[] = {
    "nstxout", "nstvout", "nstfout", "nstxout-compressed", "compressed-x-precision", "nstlog", "nstcalcenergy", "nstenergy"};

bool is_output_option(const std::string& name)
{
    return std::find(std::begin(output_options), std::end(output_options), name) != std::end(output_options);
}

// Returns a text such as "dt (0.002 then, 0.001 now)" for each entry that differs.
std::vector<std::string> changes(const NamedList<std::string>& then, const NamedList<std::string>& now, bool of_output)
{
    const auto value_in = [](const NamedList<std::string>& list, const std::string& name) {
        const auto at = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
        return at == list.end() ? std::string("nothing") : at->second.empty() ? std::string("empty") : at->second;
    };
    std::vector<std::string> found;
    for (const auto& [name, value] : now)
    {
        const std::string before = value_in(then, name), after = value_in(now, name);
        if (before != after && is_output_option(name) == of_output)
        {
            found.push_back(fmt::format("{} ({} then, {} now)", name, before, after));
        }
    }
    for (const auto& [name, value] : then)
    {
        if (!of_output && value_in(now, name) == "nothing")
        {
            found.push_back(fmt::format("{} ({} then, nothing now)", name, value));
        }
    }
    return found;
}

std::string listed(const std::vector<std::string>& found, std::size_t most)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) { text += (i > 0 ? ", " : "") + found[i]; }
    if (found.size() > most) { text += fmt::format(" and {} more", found.size() - most); }
    return text;
}

} // namespace

std::string difference(const NamedList<std::string>& then, const NamedList<std::string>& now)
{
    constexpr std::size_t most = 4;
    return listed(changes(then, now, false), most);
}

std::string output_difference(const NamedList<std::string>& then, const NamedList<std::string>& now)
{
    return listed(changes(then, now, true), std::size(output_options));
}

} // namespace parhelion
