/* SPDX-License-Identifier: Apache-2.0
 * The exchanges of the mesh (src/mesh_exchange): one after another, each a message from every rank to every other. A rank packs what it
 * sends while it still reads what came in the exchange before, then signals, then waits. No credits. Two exchanges in turn, as
 * spectra there and back, need one slot each: whoever sends in the second has read what came in the first. MIXED: the first is
 * followed by either of two others, as spectra are by spectra or, where atoms have strayed, by charges. ALONE: one exchange, again and
 * again, as the charges of the gathered mesh: a peer may be an exchange ahead, so that two slots are needed.
 * Mutants: ALONE with DEPTH=1; LATER (reads once more after the next exchange is signalled); NO_WAIT (for one of the two peers); SKIP_EMPTY (the second exchange
 * has nothing to send and says nothing); RECEIVE_FIRST. */
#define RANKS 3
#define CHANNELS (3 * RANKS * RANKS)
#include "channels.inc"
#define C(exchange, from, to) ((exchange) * RANKS * RANKS + (from) * RANKS + (to))

/* Of the i-th exchange, from 0: which it is, and how often it has been, this time included. */
#if defined(ALONE)
#define WHICH(i) 0
#define TIMES(i) ((i) + 1)
#elif defined(MIXED)
#define WHICH(i) ((i) % 2 == 0 -> 0 : 1 + (i) / 2 % 2)
#define TIMES(i) ((i) % 2 == 0 -> (i) / 2 + 1 : (i) / 4 + 1)
#else
#define WHICH(i) ((i) % 2)
#define TIMES(i) ((i) / 2 + 1)
#endif

#ifdef SKIP_EMPTY
#define IS_SENT(i) (WHICH(i) == 0)
#else
#define IS_SENT(i) true
#endif

inline read_all(i)
{
    if
    :: i >= 0 && IS_SENT(i) ->
        READ(C(WHICH(i), next, me), TIMES(i), i);
        READ(C(WHICH(i), last, me), TIMES(i), i)
    :: else
    fi
}

inline send(i)
{
    PACK(C(WHICH(i), me, next), TIMES(i), i);
    PACK(C(WHICH(i), me, last), TIMES(i), i);
#ifndef LATER
    read_all(i - 1);
#endif
    SIGNAL(C(WHICH(i), me, next), TIMES(i));
    SIGNAL(C(WHICH(i), me, last), TIMES(i));
#ifdef LATER
    read_all(i - 1)
#endif
}

inline wait_all(i)
{
#ifndef NO_WAIT
    WAIT(C(WHICH(i), last, me), TIMES(i));
#endif
    WAIT(C(WHICH(i), next, me), TIMES(i))
}

proctype rank(byte me)
{
    byte next = (me + 1) % RANKS, last = (me + 2) % RANKS;
    short i = 0;
    do
    :: i >= 2 * EPOCHS -> break
    :: else ->
        if
        :: IS_SENT(i) ->
#ifdef RECEIVE_FIRST
            wait_all(i);
            send(i)
#else
            send(i);
            wait_all(i)
#endif
        :: else -> read_all(i - 1)
        fi;
        i++
    od;
    read_all(i - 1)
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
