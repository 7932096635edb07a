// SPDX-License-Identifier: Apache-2.0
// The law of a pair, over an operations policy: Lennard-Jones with its modifiers and combination rules, and the reaction field
// (formulas: interactions/pair/nonbonded.hpp). Text that three namespaces include, each with its Ops: vectors of an instruction
// set (nonbonded_kernel-inl.hpp; functions for one are compiled within its region), lanes of a GPU
// (pair/gpu/nonbonded_gpu_kernel.cuh), numbers (pair_law.hpp). PARHELION_PAIR_LAW is how a function is declared there.
//
// Ops has Real, V, set(Real), add(a, b), mul(a, b), mul_add(a, b, c) = a b + c, mul_sub(a, b, c) = a b - c, both rounded once,
// and max(a, b). Every expression is symmetric in the two atoms. Cost: 7 operations for Lennard-Jones, 2 for the reaction field.

// 6 c6 and 12 c12 of a pair from what NonbondedTables keeps of its atoms.
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

// c6, c12: 6 c6 and 12 c12.
template <class Ops, bool force_switch, bool energies>
struct LennardJones
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;

    // Adds force / r to `force`; energy is left alone if it is not asked for.
    static PARHELION_PAIR_LAW void add(const PairConstants<Real>& k, V c6, V c12, V r2, V rinv, V rinv2, V& force, V& energy)
    {
        const V rinv6 = Ops::mul(Ops::mul(rinv2, rinv2), rinv2);
        force = Ops::mul_add(Ops::mul(Ops::mul_sub(c12, rinv6, c6), rinv6), rinv2, force);
        V s6 = Ops::set(k.shift[0]), s12 = Ops::set(k.shift[1]);
        if constexpr (force_switch)
        {
            const V t = Ops::max(Ops::set(0), Ops::mul_sub(r2, rinv, Ops::set(k.lj_switch)));
            const V t2 = Ops::mul(t, t);
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
        if constexpr (energies)
        {
            const V v12 = Ops::mul_sub(Ops::mul(rinv6, rinv6), Ops::set(static_cast<Real>(1.0 / 12)), s12);
            const V v6 = Ops::mul_sub(rinv6, Ops::set(static_cast<Real>(1.0 / 6)), s6);
            energy = Ops::mul_sub(c12, v12, Ops::mul(c6, v6));
        }
    }
};

// An electrostatic law: force / r and energy of a pair whose charges' product, times f, is qq. rinv = 0 for an excluded pair.
template <class Ops>
struct ReactionField
{
    using V = typename Ops::V;
    using Real = typename Ops::Real;

    static PARHELION_PAIR_LAW V force(V two_k, V qq, V rinv, V rinv2) { return Ops::mul(qq, Ops::mul_sub(rinv, rinv2, two_k)); }
    static PARHELION_PAIR_LAW V energy(const PairConstants<Real>& k, V qq, V rinv, V r2)
    {
        return Ops::mul(qq, Ops::add(rinv, Ops::mul_sub(r2, Ops::set(k.k), Ops::set(k.c))));
    }
};
