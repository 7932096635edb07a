// SPDX-License-Identifier: Apache-2.0
// Gathers each water and each group of coupled constraints from the state, constrains it, and writes its velocities back.
#include "dynamics/constraints.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/frozen_atoms.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace parhelion {

namespace {

double constraint_mass(const MoleculeType& type, int atom, ConstraintMasses masses)
{
    const double mass = type.atoms[static_cast<std::size_t>(atom)].mass;
    if (!(mass > 0))
    {
        throw InputError("E620", {"molecule type " + type.name, 0},
                         "atom " + std::to_string(atom + 1) +
                             " is constrained but has no mass (its motion would be undefined). Give it a "
                             "positive mass, or remove the constraint.");
    }
    return masses == ConstraintMasses::Equal ? 1 : mass;
}

SettleWater read_settle(const MoleculeType& type, const Settle& s, ConstraintMasses masses)
{
    const double mass_a = constraint_mass(type, s.hydrogen_a, masses);
    if (mass_a != constraint_mass(type, s.hydrogen_b, masses))
    {
        throw InputError(
            "E621", {"molecule type " + type.name, 0},
            "the two hydrogens of a rigid water have different masses (SETTLE is for symmetric molecules). Make them equal, "
            "or replace [ settles ] by three [ constraints ].");
    }
    return make_settle(s.oxygen, s.hydrogen_a, s.hydrogen_b, s.oh, s.hh, constraint_mass(type, s.oxygen, masses), mass_a);
}

// Adds -1/2 of rf, the tensor r (x) f, to the virial.
template <class N>
void add_virial(ConstraintResult<N>& result, const Mat3<double>& rf)
{
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { result.virial_sum[3 * a + b] += to_sum<ScalarSum<N>>(-0.5 * rf[a][b]); }
    }
}

template <class N>
void add_failure(ConstraintResult<N>& result, std::int64_t atom_a, std::int64_t atom_b, double angle, double deviation)
{
    ConstraintResult<N> failure;
    failure.failures = 1;
    failure.worst_angle = angle;
    failure.worst_deviation = deviation;
    failure.worst_atom_a = atom_a;
    failure.worst_atom_b = atom_b;
    result += failure;
}

// Returns the angle between two vectors in degrees, or 180 if the angle is not a number.
double angle_between(const Vec3<double>& a, const Vec3<double>& b)
{
    const double cosine = dot(a, b) / std::sqrt(norm2(a) * norm2(b));
    return std::abs(cosine) <= 1 + 1e-9 ? std::acos(std::clamp(cosine, -1.0, 1.0)) / units::degree : 180;
}

// The waters of one molecule type in one thread. Collects copies of a water until a batch is full or another water is next.
template <class N>
class SettleLine
{
public:
    SettleLine(const std::vector<SettleWater>& waters, ParticleState<N>& state, double dt, Virial virial,
               ConstraintResult<N>& result)
        : waters_(waters), state_(state), dt_(dt), virial_(virial), result_(result)
    {
    }
    void add(const ConstraintPlace& place)
    {
        if (place.index != index_)
        {
            flush();
            index_ = place.index;
            water_ = waters_[static_cast<std::size_t>(index_)];
        }
        const std::int32_t first_atom = place.first_atom;
        Place& p = places_[count_];
        p.first_atom = first_atom;
        p.slot_o = slot(first_atom, water_.oxygen);
        p.slot_a = slot(first_atom, water_.hydrogen_a);
        p.slot_b = slot(first_atom, water_.hydrogen_b);
        const auto x_o = state_.x.get(p.slot_o);
        put(batch_.oh_a, state_.box.difference(state_.x.get(p.slot_a), x_o));
        put(batch_.oh_b, state_.box.difference(state_.x.get(p.slot_b), x_o));
        put(batch_.move_o, dt_ * velocity(p.slot_o));
        put(batch_.move_a, dt_ * velocity(p.slot_a));
        put(batch_.move_b, dt_ * velocity(p.slot_b));
        if (++count_ == settle_batch_size) { flush(); }
    }
    void flush()
    {
        if (count_ == 0) { return; }
        for (int i = count_; i < settle_batch_size; ++i) { copy_place(0, i); }
        settle(water_, batch_);
        for (int i = 0; i < count_; ++i) { write_back(i); }
        count_ = 0;
    }

private:
    struct Place
    {
        std::int32_t first_atom;
        std::size_t slot_o, slot_a, slot_b;
    };
    std::size_t slot(std::int32_t first_atom, int local) const
    {
        return static_cast<std::size_t>(state_.slot_of_global[static_cast<std::size_t>(first_atom + local)]);
    }
    Vec3<double> velocity(std::size_t slot) const { return static_cast<Vec3<double>>(state_.v.get(slot)); }
    void put(double (&a)[3][settle_batch_size], const Vec3<double>& value)
    {
        for (int d = 0; d < 3; ++d) { a[d][count_] = value[d]; }
    }
    static Vec3<double> take(const double (&a)[3][settle_batch_size], int i) { return {a[0][i], a[1][i], a[2][i]}; }
    void copy_place(int from, int to)
    {
        for (auto* a : {&batch_.oh_a, &batch_.oh_b, &batch_.move_o, &batch_.move_a, &batch_.move_b})
        {
            for (int d = 0; d < 3; ++d) { (*a)[d][to] = (*a)[d][from]; }
        }
    }
    void write_back(int i)
    {
        const Place& p = places_[i];
        const double per_time = 1 / dt_;
        const Vec3<double> dv_a = per_time * take(batch_.correct_a, i);
        const Vec3<double> dv_b = per_time * take(batch_.correct_b, i);
        set_velocity(p.slot_o, per_time * take(batch_.correct_o, i));
        set_velocity(p.slot_a, dv_a);
        set_velocity(p.slot_b, dv_b);
        if (virial_ == Virial::Compute)
        {
            // The forces on a water add up to zero, so r may be measured from the oxygen.
            const double force = water_.mass_h * per_time;
            add_virial(result_, outer(take(batch_.oh_a, i), force * dv_a) + outer(take(batch_.oh_b, i), force * dv_b));
        }
        if (!(batch_.margin[i] > 0))
        {
            add_failure(result_, p.first_atom + water_.oxygen, p.first_atom + water_.hydrogen_a, 180, 0);
        }
    }
    void set_velocity(std::size_t slot, const Vec3<double>& change)
    {
        state_.v.set(slot, static_cast<Vec3<typename N::Real>>(velocity(slot) + change));
    }

    const std::vector<SettleWater>& waters_;
    SettleWater water_{}; // water of the current batch
    int index_ = -1;      // index in waters_
    ParticleState<N>& state_;
    const double dt_;
    const Virial virial_;
    ConstraintResult<N>& result_;
    Place places_[settle_batch_size];
    SettleBatch batch_;
    int count_ = 0;
};

template <class N, class T>
void gather(const LincsGroup& group, std::int32_t first_atom, const ParticleState<N>& state, const ClusterArray<T>& vectors,
            double scale, LincsWork& work)
{
    work.make_room(group);
    const auto slot = [&](int i) {
        return static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(first_atom + group.atoms[i])]);
    };
    for (std::size_t i = 0; i < group.atoms.size(); ++i)
    {
        work.move[i] = scale * static_cast<Vec3<double>>(vectors.get(slot(static_cast<int>(i))));
    }
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        work.reference[i] = state.box.difference(state.x.get(slot(group.bonds[i].a)), state.x.get(slot(group.bonds[i].b)));
    }
}

template <class N, class T>
void scatter(const LincsGroup& group, std::int32_t first_atom, const ParticleState<N>& state, double scale, const LincsWork& work,
             ClusterArray<T>& vectors)
{
    for (std::size_t i = 0; i < group.atoms.size(); ++i)
    {
        const auto slot = static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(first_atom + group.atoms[i])]);
        vectors.set(slot, static_cast<Vec3<T>>(scale * work.move[i]));
    }
}

// Returns sum r (x) f of the constraint forces, which follow from the multipliers of the displacements in a step of dt.
Mat3<double> pull_of_constraints(const LincsGroup& group, const LincsWork& work, double dt)
{
    Mat3<double> pull;
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        const Vec3<double> force_on_a = (-work.multiplier[i] / (dt * dt)) * work.direction[i];
        pull += outer(work.reference[i], force_on_a);
    }
    return pull;
}

template <class N>
void check_and_tally(const LincsGroup& group, std::int32_t first_atom, const LincsWork& work, double dt, double warn_cosine,
                     Virial virial, ConstraintResult<N>& result)
{
    const bool wants_deviations = virial == Virial::Compute || work.largest_deviation > LincsSettings::tolerance;
    result.largest_deviation = std::max(result.largest_deviation, work.largest_deviation);
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        const LincsBond& bond = group.bonds[i];
        const Vec3<double>& old_bond = work.reference[i];
        const Vec3<double> new_bond = old_bond + (work.move[bond.a] - work.move[bond.b]);
        const double new_length2 = norm2(new_bond);
        const bool holds = dot(old_bond, new_bond) >= warn_cosine * std::sqrt(norm2(old_bond) * new_length2);
        const double deviation = wants_deviations ? std::sqrt(new_length2) / bond.length - 1 : 0;
        if (!holds || std::abs(deviation) > LincsSettings::failed)
        {
            add_failure(result, first_atom + group.atoms[bond.a], first_atom + group.atoms[bond.b],
                        angle_between(old_bond, new_bond), deviation);
        }
        if (virial == Virial::Compute) { result.deviation_squares += to_sum<ScalarSum<N>>(deviation_square(deviation)); }
    }
    if (virial == Virial::Compute) { add_virial(result, pull_of_constraints(group, work, dt)); }
}

template <class N>
ConstraintResult<N> sum_of(const std::vector<ConstraintResult<N>>& results)
{
    ConstraintResult<N> total;
    for (const ConstraintResult<N>& result : results) { total += result; }
    return total;
}

// Calls body(place) for the places that are this thread's share.
template <class Body>
void for_share(const CpuQueue& queue, int thread, const std::vector<ConstraintPlace>& places, Body&& body)
{
    const auto [begin, end] = queue.range(places.size(), 1, thread);
    for (std::size_t i = begin; i < end; ++i) { body(places[i]); }
}

} // namespace

template <class N>
ConstraintResult<N>& ConstraintResult<N>::operator+=(const ConstraintResult& other)
{
    for (std::size_t i = 0; i < virial_sum.size(); ++i) { virial_sum[i] += other.virial_sum[i]; }
    deviation_squares += other.deviation_squares;
    largest_deviation = std::max(largest_deviation, other.largest_deviation);
    const bool is_worse = other.failures > 0 && (failures == 0 || other.worst_angle > worst_angle ||
                                                 (other.worst_angle == worst_angle && other.worst_atom_a < worst_atom_a));
    if (is_worse)
    {
        worst_angle = other.worst_angle;
        worst_atom_a = other.worst_atom_a;
        worst_atom_b = other.worst_atom_b;
        worst_deviation = other.worst_deviation;
    }
    failures += other.failures;
    return *this;
}

std::int64_t lincs_constraint_count(const Topology& topology)
{
    std::int64_t count = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        count += block.count * static_cast<std::int64_t>(type.constraints.size());
    }
    return count;
}

Constraints::Constraints(const Topology& topology, const RunParameters& parameters, ConstraintMasses masses)
    : lincs_{parameters.lincs_order, parameters.lincs_iterations},
      warn_cosine_(std::cos(parameters.lincs_warn_angle * units::degree))
{
    for (const MoleculeType& type : topology.molecule_types)
    {
        TypeConstraints& t = types_.emplace_back();
        t.name = type.name;
        std::vector<LincsBond> bonds;
        std::vector<double> inverse_mass(type.atoms.size());
        for (const Constraint& c : type.constraints)
        {
            for (const int atom : {c.a, c.b})
            {
                const bool rests = type.atoms[static_cast<std::size_t>(atom)].frozen == every_axis;
                inverse_mass[static_cast<std::size_t>(atom)] = rests ? 0 : 1 / constraint_mass(type, atom, masses);
            }
            bonds.push_back({c.a, c.b, c.length});
        }
        t.groups = make_lincs_groups(bonds, inverse_mass);
        for (const Settle& s : type.settles)
        {
            const SettleWater& water = t.waters.emplace_back(read_settle(type, s, masses));
            inverse_mass[static_cast<std::size_t>(s.oxygen)] = 1 / water.mass_o;
            for (const int h : {s.hydrogen_a, s.hydrogen_b}) { inverse_mass[static_cast<std::size_t>(h)] = 1 / water.mass_h; }
            const std::vector<LincsBond> sides{
                {s.oxygen, s.hydrogen_a, s.oh}, {s.oxygen, s.hydrogen_b, s.oh}, {s.hydrogen_a, s.hydrogen_b, s.hh}};
            t.water_groups.push_back(make_lincs_groups(sides, inverse_mass).front());
        }
    }
}

ConstraintAssignment Constraints::assign_all(const Topology& topology) const
{
    return assign(all_molecules(topology), [](std::int32_t) { return true; });
}

ConstraintAssignment Constraints::assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const
{
    PARHELION_EXPECTS(copies.first_atom.size() == types_.size());
    ConstraintAssignment assignment;
    for (std::size_t type = 0; type < types_.size(); ++type)
    {
        const TypeConstraints& t = types_[type];
        ConstraintAssignment::ByMethod& places = assignment.molecule_types.emplace_back();
        const auto add_if_home = [&](std::vector<ConstraintPlace>& list, std::int32_t first, std::size_t index, int atom) {
            if (is_home(first + atom)) { list.push_back({first, static_cast<std::int32_t>(index)}); }
        };
        for (std::size_t w = 0; w < t.waters.size(); ++w)
        {
            for (const std::int32_t first : copies.first_atom[type]) { add_if_home(places.waters, first, w, t.waters[w].oxygen); }
        }
        if (t.groups.empty()) { continue; }
        for (const std::int32_t first : copies.first_atom[type])
        {
            for (std::size_t g = 0; g < t.groups.size(); ++g) { add_if_home(places.groups, first, g, t.groups[g].atoms.front()); }
        }
    }
    return assignment;
}

template <class Body>
void Constraints::for_every_group(const CpuQueue& queue, int thread, const ConstraintAssignment& assignment, Body&& body) const
{
    for (std::size_t type = 0; type < types_.size(); ++type)
    {
        const TypeConstraints& t = types_[type];
        for_share(queue, thread, assignment.molecule_types[type].groups, [&](const ConstraintPlace& place) {
            body(t, t.groups[static_cast<std::size_t>(place.index)], place.first_atom);
        });
        for_share(queue, thread, assignment.molecule_types[type].waters, [&](const ConstraintPlace& place) {
            body(t, t.water_groups[static_cast<std::size_t>(place.index)], place.first_atom);
        });
    }
}

template <class N>
ConstraintResult<N> Constraints::apply(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state,
                                       double dt, Virial virial) const
{
    PARHELION_EXPECTS(dt != 0 && assignment.molecule_types.size() == types_.size());
    const ScopedPhase span(queue.clock(), Phase::Constrain);
    std::vector<ConstraintResult<N>> results(static_cast<std::size_t>(queue.threads()));
    queue.run([&](int thread) {
        ConstraintResult<N> result; // owned by one thread, so it has cache lines of its own
        LincsWork work;
        for (std::size_t type = 0; type < types_.size(); ++type)
        {
            const TypeConstraints& t = types_[type];
            const ConstraintAssignment::ByMethod& places = assignment.molecule_types[type];
            SettleLine<N> line(t.waters, state, dt, virial, result);
            for_share(queue, thread, places.waters, [&](const ConstraintPlace& place) { line.add(place); });
            line.flush();
            for_share(queue, thread, places.groups, [&](const ConstraintPlace& place) {
                const LincsGroup& group = t.groups[static_cast<std::size_t>(place.index)];
                gather(group, place.first_atom, state, state.v, dt, work);
                lincs(group, lincs_, work);
                scatter(group, place.first_atom, state, 1 / dt, work, state.v);
                check_and_tally(group, place.first_atom, work, dt, warn_cosine_, virial, result);
            });
        }
        results[static_cast<std::size_t>(thread)] = result;
    });
    return sum_of(results);
}

template <class N, class T>
ConstraintResult<N> Constraints::project(CpuQueue& queue, const ConstraintAssignment& assignment, const ParticleState<N>& state,
                                         ClusterArray<T>& vectors, Virial virial) const
{
    PARHELION_EXPECTS(assignment.molecule_types.size() == types_.size());
    std::vector<ConstraintResult<N>> results(static_cast<std::size_t>(queue.threads()));
    queue.run([&](int thread) {
        ConstraintResult<N> result;
        LincsWork work;
        for_every_group(
            queue, thread, assignment, [&](const TypeConstraints& type, const LincsGroup& group, std::int32_t first_atom) {
                gather(group, first_atom, state, vectors, 1, work);
                if (!lincs_project(group, work))
                {
                    const int first = group.atoms.front() + 1, last = group.atoms.back() + 1;
                    throw InputError(
                        "E158", {},
                        fmt::format("in molecule type {} the constraints of atoms {} to {} (in the system {} to {}) depend "
                                    "on each other, as three of one line do: their forces have no unique answer. Remove "
                                    "one of them.",
                                    type.name, first, last, first_atom + first, first_atom + last));
                }
                scatter(group, first_atom, state, 1, work, vectors);
                if (virial == Virial::Compute) { add_virial(result, pull_of_constraints(group, work, 1)); }
            });
        results[static_cast<std::size_t>(thread)] = result;
    });
    return sum_of(results);
}

template <class N>
ConstraintResult<N> constrain_positions(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                        ParticleState<N>& state)
{
    // At zero velocity, the constrained "velocity" for a unit of time is the displacement itself.
    const ClusterArray<typename N::Real> velocities = state.v;
    std::fill(state.v.values().begin(), state.v.values().end(), typename N::Real{0});
    const ConstraintResult<N> result = constraints.apply(queue, assignment, state, 1, Virial::Skip);
    drift(queue, 1, state);
    state.v = velocities;
    return result;
}

template <class N>
ConstraintResult<N> constrain_start(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                    ParticleState<N>& state, double dt, StartOf velocities)
{
    const ConstraintResult<N> result = constrain_positions(queue, constraints, assignment, state);
    constraints.project(queue, assignment, state, state.v);
    if (velocities == StartOf::HalfStep) { constraints.apply(queue, assignment, state, -dt, Virial::Skip); }
    return result;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct ConstraintResult<N>;                                                                                         \
    template ConstraintResult<N> Constraints::apply(CpuQueue&, const ConstraintAssignment&, ParticleState<N>&, double, Virial)   \
        const;                                                                                                                   \
    template ConstraintResult<N> Constraints::project(CpuQueue&, const ConstraintAssignment&, const ParticleState<N>&,           \
                                                      ClusterArray<float>&, Virial) const;                                       \
    template ConstraintResult<N> Constraints::project(CpuQueue&, const ConstraintAssignment&, const ParticleState<N>&,           \
                                                      ClusterArray<double>&, Virial) const;                                      \
    template ConstraintResult<N> constrain_positions(CpuQueue&, const Constraints&, const ConstraintAssignment&,                 \
                                                     ParticleState<N>&);                                                         \
    template ConstraintResult<N> constrain_start(CpuQueue&, const Constraints&, const ConstraintAssignment&, ParticleState<N>&,  \
                                                 double, StartOf);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
