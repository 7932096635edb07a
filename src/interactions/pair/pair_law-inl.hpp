// SPDX-License-Identifier: Apache-2.0
// The law of a pair, over an operations policy Ops: Lennard-Jones with modifiers and combination rules, reaction
// field, and PME's screened Coulomb force (formulas: interactions/pair/nonbonded.hpp). Three namespaces include
// this text, each with its own Ops: for vectors of an instruction set (nonbonded_vectors-inl.hpp, whose
// functions compile within its region), for lanes of a GPU (pair/gpu/nonbonded_gpu_kernel.cuh), and for numbers
// (pair_law.hpp). Each namespace defines PARHELION_PAIR_LAW as the specifier of its functions.
//
// Ops has Real, V, set(Real), add(a, b), sub(a, b), mul(a, b), max(a, b), and if_less(a, b, c), which is c if a < b, and 0
// otherwise. It has mul_add(a, b, c) = a b + c and mul_sub(a, b, c) = a b - c, which round once if the processor can. Expressions
// are symmetric in the two atoms. Cost in operations: Lennard-Jones 7, reaction field 2, screened Coulomb 18 (float) or 26.

// Computes 6 c6 and 12 c12 of a pair from the two parameters that NonbondedTables has for each atom.
template <class Ops, class V = typename Ops::V>
PARHELION_PAIR_LAW void combine_geometric(V first_i, V second_i, V first_j, V second_j, V& c6, V& c12)
{
    c6 = Ops::mul(first_i, first_j);
    c12 = Ops::mul(second_i, second_j);
}
template <class Ops, class V = typename Ops::V>
PARHELION_PAIR_LAW void combine_lorentz_berthelot(V half_sigma_i, V epsilon_i, V half_sigma_j, V epsilon_j, V& c6, V& c12)
{
    const V sigma = Ops::add(half_sigma_i, half_sigma_j);
    const V sigma2 = Ops::mul(sigma, sigma);
    const V sigma6 = Ops::mul(Ops::mul(sigma2, sigma2), sigma2);
    c6 = Ops::mul(Ops::mul(epsilon_i, epsilon_j), sigma6);
    c12 = Ops::mul(Ops::add(c6, c6), sigma6);
}

// The Lennard-Jones law. Its arguments c6 and c12 are 6 c6 and 12 c12 of the pair.
template <class Ops, Switching switching, bool energies>
struct LennardJones
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;

    // Sets the parameters to 0 beyond the cut-off of Lennard-Jones forces, if this cut-off is the shorter one.
    static PARHELION_PAIR_LAW void cut(const PairConstants<Real>& k, V r2, V& c6, V& c12)
    {
        const V cutoff2 = Ops::set(k.lj_cutoff2);
        c6 = Ops::if_less(r2, cutoff2, c6), c12 = Ops::if_less(r2, cutoff2, c12);
    }

    // Adds force / r to `force`, and the energy to `energy` if energies are asked for.
    static PARHELION_PAIR_LAW void add(const PairConstants<Real>& k, V c6, V c12, V r2, V rinv, V rinv2, V& force, V& energy)
    {
        const V rinv6 = Ops::mul(Ops::mul(rinv2, rinv2), rinv2);
        force = Ops::mul_add(Ops::mul(Ops::mul_sub(c12, rinv6, c6), rinv6), rinv2, force);
        V s6 = Ops::set(k.shift[0]), s12 = Ops::set(k.shift[1]);
        if (switching == Switching::Force || (switching != Switching::Never && k.lj_is_switched))
        {
            const V t = Ops::max(Ops::set(0), Ops::mul_sub(r2, rinv, Ops::set(k.lj_switch)));
            const V t2 = Ops::mul(t, t);
            if (switching == Switching::IfAsked && k.lj_potential_is_switched)
            {
                switch_potential(k, c6, c12, rinv, rinv2, rinv6, t, t2, force, s6, s12);
                if constexpr (energies) { energy = shifted(c6, c12, rinv6, s6, s12); }
                return;
            }
            const V f6 = Ops::mul_add(Ops::set(k.b[0]), t, Ops::set(k.a[0]));
            const V f12 = Ops::mul_add(Ops::set(k.b[1]), t, Ops::set(k.a[1]));
            force = Ops::mul_add(Ops::mul(t2, rinv), Ops::mul_sub(c12, f12, Ops::mul(c6, f6)), force);
            if constexpr (energies)
            {
                const V t3 = Ops::mul(t2, t);
                s6 = Ops::mul_add(t3, Ops::mul_add(Ops::set(k.b_energy[0]), t, Ops::set(k.a_energy[0])), s6);
                s12 = Ops::mul_add(t3, Ops::mul_add(Ops::set(k.b_energy[1]), t, Ops::set(k.a_energy[1])), s12);
            }
        }
        if constexpr (energies) { energy = shifted(c6, c12, rinv6, s6, s12); }
    }

private:
    static PARHELION_PAIR_LAW V shifted(V c6, V c12, V rinv6, V s6, V s12)
    {
        const V v12 = Ops::mul_sub(Ops::mul(rinv6, rinv6), Ops::set(static_cast<Real>(1.0 / 12)), s12);
        const V v6 = Ops::mul_sub(rinv6, Ops::set(static_cast<Real>(1.0 / 6)), s6);
        return Ops::mul_sub(c12, v12, Ops::mul(c6, v6));
    }

    // Switches the potential off: V (1 - u), u = t^3 (u0 + u1 t + u2 t^2), has the force F (1 - u) + V u'.
    static PARHELION_PAIR_LAW void switch_potential(const PairConstants<Real>& k, V c6, V c12, V rinv, V rinv2, V rinv6, V t,
                                                    V t2, V& force, V& s6, V& s12)
    {
        const V u =
            Ops::mul(Ops::mul(t2, t), Ops::mul_add(Ops::mul_add(Ops::set(k.u[2]), t, Ops::set(k.u[1])), t, Ops::set(k.u[0])));
        const V slope = Ops::mul(
            t2, Ops::mul_add(Ops::mul_add(Ops::set(k.u_slope[2]), t, Ops::set(k.u_slope[1])), t, Ops::set(k.u_slope[0])));
        // Multiplies by the parameters first: they are 0 for fillers, and r^-12 of a filler on top of an atom is infinite.
        const V sixth = Ops::mul(rinv6, Ops::set(static_cast<Real>(1.0 / 6)));
        const V twelfth = Ops::mul(rinv6, Ops::set(static_cast<Real>(1.0 / 12)));
        const V potential = Ops::mul(Ops::mul_sub(c12, twelfth, Ops::mul(c6, Ops::set(static_cast<Real>(1.0 / 6)))), rinv6);
        const V whole = Ops::mul(Ops::mul(Ops::mul_sub(c12, rinv6, c6), rinv6), rinv2);
        force = Ops::sub(force, Ops::mul(whole, u));
        force = Ops::mul_add(Ops::mul(slope, rinv), potential, force);
        s6 = Ops::mul(sixth, u), s12 = Ops::mul(Ops::mul(twelfth, rinv6), u);
    }
};

// Returns sum_i of[i] t^i. Even and odd powers are computed side by side.
template <class Ops, std::size_t terms, class V = typename Ops::V>
PARHELION_PAIR_LAW V polynomial(const typename Ops::Real* of, V t)
{
    static_assert(terms % 2 == 1 && terms >= 5);
    const V t2 = Ops::mul(t, t);
    V even = Ops::mul_add(Ops::set(of[terms - 1]), t2, Ops::set(of[terms - 3])), odd = Ops::set(of[terms - 2]);
    for (std::size_t i = terms - 3; i > 0; i -= 2)
    {
        even = Ops::mul_add(even, t2, Ops::set(of[i - 2]));
        odd = Ops::mul_add(odd, t2, Ops::set(of[i - 1]));
    }
    return Ops::mul_add(odd, t, even);
}

// The dispersion on LJ-PME's mesh, which a pair loses. c6: 6 c6 of the pair on the mesh. An excluded pair loses it, too, and has
// no shift. Cost in operations: 17 (float) or 25.
template <class Ops, bool is_tight = false>
struct MeshDispersion
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;
    static constexpr std::size_t terms = (is_tight ? tight_screening_degree<Real> : screening_degree<Real>)+1;

    static PARHELION_PAIR_LAW V t(const DispersionConstants<Real>& k, V r2)
    {
        return Ops::mul_sub(r2, Ops::set(k.per_r2), Ops::set(1));
    }
    // Adds force / r.
    static PARHELION_PAIR_LAW V force(const DispersionConstants<Real>& k, V c6, V t, V force)
    {
        return Ops::mul_add(c6, polynomial<Ops, terms>(k.force, t), force);
    }
    // Adds the energy.
    static PARHELION_PAIR_LAW V energy(const DispersionConstants<Real>& k, V c6, V t, V shift, V energy)
    {
        return Ops::mul_add(c6, Ops::sub(polynomial<Ops, terms>(k.energy, t), shift), energy);
    }
};

// The electrostatic laws compute force / r and potential of a pair. rinv is 0 for an excluded pair.
template <class Ops>
struct ReactionField
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;

    static PARHELION_PAIR_LAW V force(V two_k, V qq, V rinv, V rinv2) { return Ops::mul(qq, Ops::mul_sub(rinv, rinv2, two_k)); }
    static PARHELION_PAIR_LAW V potential(const PairConstants<Real>& k, V rinv, V r2)
    {
        return Ops::add(rinv, Ops::mul_sub(r2, Ops::set(k.k), Ops::set(k.c)));
    }
};

// `t`: argument of the polynomials (interactions/pair/screening.hpp), which is_tight selects. Excluded pairs have no shift.
template <class Ops, bool is_tight = false>
struct ScreenedCoulomb
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;
    static constexpr std::size_t terms = (is_tight ? tight_screening_degree<Real> : screening_degree<Real>)+1;

    static PARHELION_PAIR_LAW V t(const PairConstants<Real>& k, V r2)
    {
        return Ops::mul_sub(r2, Ops::set(k.per_r2), Ops::set(1));
    }
    static PARHELION_PAIR_LAW V force(const PairConstants<Real>& k, V qq, V rinv, V rinv2, V t)
    {
        return Ops::mul(qq, Ops::mul_add(rinv, rinv2, polynomial<Ops, terms>(k.screened_force, t)));
    }
    static PARHELION_PAIR_LAW V potential(const PairConstants<Real>& k, V rinv, V t, V shift)
    {
        return Ops::add(rinv, Ops::sub(polynomial<Ops, terms>(k.screened_energy, t), shift));
    }
};
