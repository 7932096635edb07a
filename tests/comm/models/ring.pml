/* SPDX-License-Identifier: Apache-2.0
 * A ring in which every rank sends to the next: the general channel. Holds with credits at any depth; the reader may hold a slot
 * as long as it likes.
 * Mutants: without CREDITS, NO_ACK, RECEIVE_FIRST. */
#define RANKS 3
#define CHANNELS RANKS /* channel r: from rank r to the next */
#include "channels.inc"

proctype rank(byte me)
{
    byte out = me, in = (me + RANKS - 1) % RANKS, e = 1;
    do
    :: e > EPOCHS -> break
    :: else ->
#ifdef RECEIVE_FIRST
        WAIT(in, e);
        READ(in, e, e);
        CREDIT(in, e);
#endif
        WAIT_CREDIT(out, e);
        PACK(out, e, e);
        SIGNAL(out, e);
#ifndef RECEIVE_FIRST
        WAIT(in, e);
        READ(in, e, e);
        READ(in, e, e); /* later */
#ifndef NO_ACK
        CREDIT(in, e);
#endif
#endif
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
