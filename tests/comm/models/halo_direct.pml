/* SPDX-License-Identifier: Apache-2.0
 * The direct halo exchange: every rank sends its coordinates to every other one at once and gets forces back from each, no credits,
 * nothing forwarded. Between two ranks it is the pattern x forward, f back: coordinates of epoch e + 1 leave after the forces of e
 * have come, and halo coordinates are read once more just before the forces of the next epoch leave.
 * Mutants: DEPTH=1, LATER, SKIP_EMPTY, RECEIVE_FIRST as in halo_staged.pml. */
#define RANKS 3
#define CHANNELS (2 * RANKS * RANKS)
#include "channels.inc"
#define X(from, to) ((from) * RANKS + (to))
#define F(from, to) (RANKS * RANKS + (from) * RANKS + (to))

#ifdef SKIP_EMPTY
#define HAS_FORCES(e) ((e) < 2)
#else
#define HAS_FORCES(e) true
#endif

#define LATE_READ(e) READ(X(a, me), e, e); READ(X(b, me), e, e)

inline coordinates()
{
#ifdef RECEIVE_FIRST
    WAIT(X(a, me), e);
#endif
    PACK(X(me, a), e, e);
    SIGNAL(X(me, a), e);
    PACK(X(me, b), e, e);
    SIGNAL(X(me, b), e);
    WAIT(X(a, me), e);
    WAIT(X(b, me), e);
    READ(X(a, me), e, e);
    READ(X(b, me), e, e)
}

inline forces()
{
    if
    :: HAS_FORCES(e) ->
        PACK(F(me, a), e, e);
        SIGNAL(F(me, a), e);
        PACK(F(me, b), e, e);
        SIGNAL(F(me, b), e);
        WAIT(F(a, me), e);
        WAIT(F(b, me), e);
        READ(F(a, me), e, e);
        READ(F(b, me), e, e)
    :: else
    fi
}

proctype rank(byte me)
{
    byte e = 1, a = (me + 1) % RANKS, b = (me + 2) % RANKS;
    do
    :: e > EPOCHS -> break
    :: else ->
        coordinates();
#if DEPTH > 1 && !defined(LATER)
        if
        :: e > 1 -> LATE_READ(e - 1)
        :: else
        fi;
#endif
        forces();
#ifdef LATER
        if
        :: e > 1 -> LATE_READ(e - 1)
        :: else
        fi;
#endif
#if DEPTH == 1
        LATE_READ(e); /* after the force signal: an asynchronous reader */
#endif
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
