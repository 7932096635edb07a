/* SPDX-License-Identifier: Apache-2.0
 * The staged halo exchange of src/halo in one dimension with two pulses, three ranks in a ring, no credits; in the order of
 * staged-fused, which has more in flight than staged-host. Coordinates go down: in pulse 1 a rank's own, in pulse 2 its own, packed
 * at once, and those that pulse 1 brings it, read where they arrived. Forces return up: through pulse 2, then through pulse 1, with
 * what pulse 2 brought back. The next coordinates leave after all forces have come. A LATE reader of coordinates may be at it until
 * the forces of the next epoch leave, which takes the second slot; without it one would do.
 * A payload is 8 * rank + epoch. Part 0 is the sender's own, part 1 what it passes on.
 * Mutants: LATE with DEPTH=1; LATER (the late reader after the next forces have left); NO_WAIT_X1 (passes on what has not come),
 * NO_WAIT_F2 (likewise for forces), NO_WAIT_F1 (the next coordinates do not wait for the last forces); RECEIVE_FIRST; SKIP_EMPTY
 * (from epoch 2 on forces are empty, not sent and not awaited; it takes RANKS=4 for a rank to get two epochs ahead of the next, since
 * among three the second above is the one below, whose coordinates pulse 2 waits for). */
#ifndef RANKS
#define RANKS 3
#endif
#define CHANNELS (4 * RANKS) /* of rank r: 4 r + 0, 1 coordinates down in pulses 1, 2; + 2, 3 forces up */
#define PARTS 2
#include "channels.inc"
#define X1(r) (4 * (r))
#define X2(r) (4 * (r) + 1)
#define F1(r) (4 * (r) + 2)
#define F2(r) (4 * (r) + 3)
#define OF(rank, e) (8 * (rank) + (e))

#ifdef SKIP_EMPTY
#define HAS_FORCES(e) ((e) < 2)
#else
#define HAS_FORCES(e) true
#endif

inline unpack_coordinates(e)
{
    READ_PART(X1(above), e, 0, OF(above, e));
    READ_PART(X2(above), e, 0, OF(above, e));
    READ_PART(X2(above), e, 1, OF(second, e))
}

inline late_read(e)
{
    if
    :: e > 0 -> unpack_coordinates(e)
    :: else
    fi
}

inline coordinates(e)
{
#ifdef RECEIVE_FIRST
    WAIT(X1(above), e);
#endif
    PACK_PART(X1(me), e, 0, OF(me, e));
    SIGNAL(X1(me), e);
    PACK_PART(X2(me), e, 0, OF(me, e));
#ifndef NO_WAIT_X1
    WAIT(X1(above), e);
#endif
    PACK_PART(X2(me), e, 1, payload[CELL(X1(above), e, 0)]);
    SIGNAL(X2(me), e);
    WAIT(X1(above), e);
    WAIT(X2(above), e);
    unpack_coordinates(e)
}

inline forces(e)
{
    if
    :: HAS_FORCES(e) ->
        PACK_PART(F2(me), e, 0, OF(me, e));
        PACK_PART(F2(me), e, 1, OF(me, e));
        SIGNAL(F2(me), e);
        PACK_PART(F1(me), e, 0, OF(me, e));
#ifndef NO_WAIT_F2
        WAIT(F2(below), e);
#endif
        READ_PART(F2(below), e, 0, OF(below, e));
        PACK_PART(F1(me), e, 1, payload[CELL(F2(below), e, 1)]);
        SIGNAL(F1(me), e);
#ifndef NO_WAIT_F1
        WAIT(F1(below), e);
#endif
        READ_PART(F1(below), e, 0, OF(below, e));
        READ_PART(F1(below), e, 1, OF(lowest, e))
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
        coordinates(e);
#ifdef LATE
        late_read(e - 1);
#endif
        forces(e);
#ifdef LATER
        late_read(e - 1);
#endif
        e++
    od
}

init
{
    atomic {
        run rank(0); run rank(1); run rank(2);
#if RANKS == 4
        run rank(3)
#endif
    }
}
