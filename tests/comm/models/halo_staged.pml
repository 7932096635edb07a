/* SPDX-License-Identifier: Apache-2.0
 * The staged halo exchange in one dimension with two pulses, three ranks in a ring, no credits. Coordinates go down: in pulse 1 a
 * rank's own, in pulse 2 those that pulse 1 brought it. Forces return up: through pulse 2, then through pulse 1 with what came back.
 * The next coordinates leave after the forces of this epoch have come. Halo coordinates are read once more (a late reader: pruning)
 * just before the forces of the NEXT epoch leave, which two slots allow.
 * A payload is 8 * owner + epoch.
 * Mutants: DEPTH=1; LATER (the late reader after the next forces); NO_WAIT_1 (forwards without waiting for pulse 1); NO_WAIT_F2 (returns
 * pulse 1 without waiting for pulse 2); RECEIVE_FIRST; SKIP_EMPTY (from epoch 2 on forces are empty, not sent and not awaited). */
#define RANKS 3
#define CHANNELS (4 * RANKS) /* of rank r: 4 r + 0, 1 coordinates down in pulses 1, 2; + 2, 3 forces up */
#include "channels.inc"
#define X1(r) (4 * (r))
#define X2(r) (4 * (r) + 1)
#define F1(r) (4 * (r) + 2)
#define F2(r) (4 * (r) + 3)
#define TAG(owner, e) (8 * (owner) + (e))

#ifdef SKIP_EMPTY
#define HAS_FORCES(e) ((e) < 2)
#else
#define HAS_FORCES(e) true
#endif

#define LATE_READ(e) READ(X1(above), e, TAG(above, e)); READ(X2(above), e, TAG(second, e))

inline coordinates()
{
#ifdef RECEIVE_FIRST
    WAIT(X1(above), e);
#endif
    PACK(X1(me), e, TAG(me, e));
    SIGNAL(X1(me), e);
#ifndef NO_WAIT_1
    WAIT(X1(above), e);
#endif
    PACK(X2(me), e, payload[AT(X1(above), e)]);
    SIGNAL(X2(me), e);
    WAIT(X1(above), e);
    WAIT(X2(above), e);
    READ(X1(above), e, TAG(above, e));
    READ(X2(above), e, TAG(second, e))
}

inline forces()
{
    if
    :: HAS_FORCES(e) ->
        PACK(F2(me), e, TAG(me, e));
        SIGNAL(F2(me), e);
#ifndef NO_WAIT_F2
        WAIT(F2(below), e);
#endif
        PACK(F1(me), e, payload[AT(F2(below), e)]); /* what came back for the rank above */
        SIGNAL(F1(me), e);
        WAIT(F2(below), e);
        WAIT(F1(below), e);
        READ(F1(below), e, TAG(lowest, e))
    :: else
    fi
}

proctype rank(byte me)
{
    byte e = 1, above = (me + 1) % RANKS, second = (me + 2) % RANKS;
    byte below = (me + RANKS - 1) % RANKS, lowest = (me + RANKS - 2) % RANKS;
    do
    :: e > EPOCHS -> break
    :: else ->
        coordinates();
#if DEPTH > 1 && !defined(LATER)
        if
        :: e > 1 -> LATE_READ(e - 1)
        :: else
        fi;
#elif DEPTH == 1
        LATE_READ(e); /* of this epoch, which one slot would have to keep just as well */
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
