/* SPDX-License-Identifier: Apache-2.0
 * The direct halo exchange of src/halo: every rank sends its coordinates down to all who need them, then unpacks what came; sends
 * forces back, then adds what came. No credits, nothing forwarded. The next coordinates leave after all forces have come. One slot
 * would do for that; the second allows a LATE reader of coordinates (pruning on a queue of its own) up to the moment at which the
 * forces of the next epoch leave, or EARLY_X, coordinates that leave before the forces of the epoch before them have come.
 * NEAR: down to the next rank alone, instead of to both others.
 * Mutants: LATE or EARLY_X with DEPTH=1; LATE with EARLY_X; LATER (the late reader after the next forces have left); SKIP_EMPTY (from
 * epoch 2 on forces are empty, not sent and not awaited) where coordinates go one way only; NO_WAIT_X, NO_WAIT_F; RECEIVE_FIRST. */
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

#ifdef NEAR
#define FAR(statement)
#else
#define FAR(statement) statement
#endif

inline late_read(e)
{
    if
    :: e > 0 -> READ(X(above, me), e, e); FAR(READ(X(highest, me), e, e))
    :: else
    fi
}

inline send_coordinates(e)
{
    PACK(X(me, below), e, e);
    FAR(PACK(X(me, lowest), e, e);)
    SIGNAL(X(me, below), e);
    FAR(SIGNAL(X(me, lowest), e))
}

inline unpack_coordinates(e)
{
#ifndef NO_WAIT_X
    WAIT(X(above, me), e);
    FAR(WAIT(X(highest, me), e);)
#endif
    READ(X(above, me), e, e);
    FAR(READ(X(highest, me), e, e))
}

inline send_forces(e)
{
    if
    :: HAS_FORCES(e) ->
        PACK(F(me, above), e, e);
        FAR(PACK(F(me, highest), e, e);)
        SIGNAL(F(me, above), e);
        FAR(SIGNAL(F(me, highest), e))
    :: else
    fi
}

inline add_forces(e)
{
    if
    :: HAS_FORCES(e) && e > 0 ->
#ifndef NO_WAIT_F
        WAIT(F(below, me), e);
        FAR(WAIT(F(lowest, me), e);)
#endif
        READ(F(below, me), e, e);
        FAR(READ(F(lowest, me), e, e))
    :: else
    fi
}

proctype rank(byte me)
{
    byte e = 1, below = (me + RANKS - 1) % RANKS, lowest = (me + RANKS - 2) % RANKS;
    byte above = (me + 1) % RANKS, highest = (me + 2) % RANKS;
    do
    :: e > EPOCHS -> break
    :: else ->
#ifdef RECEIVE_FIRST
        unpack_coordinates(e);
        send_coordinates(e);
#else
        send_coordinates(e);
#ifdef EARLY_X
        add_forces(e - 1);
#endif
        unpack_coordinates(e);
#endif
#ifdef LATE
        late_read(e - 1);
#endif
        send_forces(e);
#ifdef LATER
        late_read(e - 1);
#endif
#ifndef EARLY_X
        add_forces(e);
#endif
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
