/* SPDX-License-Identifier: Apache-2.0
 * Communicator::sum: every rank sends to all others, then reads all others, without credits. Two slots are enough: who has
 * everybody's epoch e + 1 knows that everybody has read his e.
 * Mutants: DEPTH=1, RECEIVE_FIRST, SKIP_EMPTY (a rank with nothing to add does not signal, and nobody waits for it), EARLY_SEND
 * (the next epoch leaves before this one has been read). */
#define RANKS 3
#define CHANNELS (RANKS * RANKS) /* channel from * RANKS + to; those to oneself are not used */
#include "channels.inc"
#define CHANNEL(from, to) ((from) * RANKS + (to))

/* From epoch 2 on rank 0 has nothing to add. */
#ifdef SKIP_EMPTY
#define IS_EMPTY(from, e) ((from) == 0 && (e) >= 2)
#else
#define IS_EMPTY(from, e) false
#endif

inline send_to(peer)
{
    if
    :: IS_EMPTY(me, e) -> skip
    :: else -> PACK(CHANNEL(me, peer), e, e); SIGNAL(CHANNEL(me, peer), e)
    fi
}
inline receive_from(peer)
{
    if
    :: IS_EMPTY(peer, e) -> skip
    :: else -> WAIT(CHANNEL(peer, me), e); READ(CHANNEL(peer, me), e, e)
    fi
}

proctype rank(byte me)
{
    byte e = 1, a = (me == 0 -> 1 : 0), b = (me == 2 -> 1 : 2); /* the others, in rank order */
    do
    :: e > EPOCHS -> break
    :: else ->
#ifdef RECEIVE_FIRST
        receive_from(a); receive_from(b); send_to(a); send_to(b);
#else
        send_to(a); send_to(b);
#ifdef EARLY_SEND
        if
        :: e > 1 -> READ(CHANNEL(a, me), e - 1, e - 1); READ(CHANNEL(b, me), e - 1, e - 1)
        :: else
        fi;
        WAIT(CHANNEL(a, me), e);
        WAIT(CHANNEL(b, me), e);
#else
        receive_from(a); receive_from(b);
#endif
#endif
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
