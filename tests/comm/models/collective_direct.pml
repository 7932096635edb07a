/* SPDX-License-Identifier: Apache-2.0
 * All-reduces by direct stores (src/comm/partitioned/schedule.cpp), one partition: a channel from every rank to every other, with
 * credits. One shot: each rank sends its input to all and adds what it has of all. SHOTS=2: each rank sends chunk c of its input to
 * rank c, adds its own chunk, and sends the result to all. A payload is the epoch and a bit for each rank whose input is in it.
 * Mutants: no CREDITS with DEPTH=1, NO_ACK, RECEIVE_FIRST, EARLY_WAIT (waits for the message before), EARLY_OUT (a chunk leaves before
 * the last input is in it), EARLY_ACK (a slot is given back before it has been read). */
#ifndef SHOTS
#define SHOTS 1
#endif
#define RANKS 3
#ifndef EPOCHS
#define EPOCHS 3
#endif
#define CHANNELS (RANKS * RANKS) /* channel from * RANKS + to; those to oneself are not used */
#include "channels.inc"
#define CHANNEL(from, to) ((from) * RANKS + (to))
#define ALL ((1 << RANKS) - 1)
#define CONTENT(e, inputs) ((e) * 8 + (inputs))
#define MESSAGE(e, shot) ((e - 1) * SHOTS + (shot)) /* of a channel, from 1 */

inline send_to(peer, shot, inputs)
{
    WAIT_CREDIT(CHANNEL(me, peer), MESSAGE(e, shot));
    PACK(CHANNEL(me, peer), MESSAGE(e, shot), CONTENT(e, inputs));
    SIGNAL(CHANNEL(me, peer), MESSAGE(e, shot))
}
inline wait_for(peer, shot)
{
#ifdef EARLY_WAIT
    WAIT(CHANNEL(peer, me), MESSAGE(e, shot) - 1);
#else
    WAIT(CHANNEL(peer, me), MESSAGE(e, shot));
#endif
#ifdef EARLY_ACK
    CREDIT(CHANNEL(peer, me), MESSAGE(e, shot));
#endif
    skip
}
/* A read that may be wrong adds inputs of another epoch: the assertion is about the whole payload. */
inline read_from(peer, shot, expected)
{
    assert(payload[CELL(CHANNEL(peer, me), MESSAGE(e, shot), 0)] == CONTENT(e, expected));
#if !defined(NO_ACK) && !defined(EARLY_ACK)
    CREDIT(CHANNEL(peer, me), MESSAGE(e, shot));
#endif
    skip
}

proctype rank(byte me)
{
    byte e = 1, a = (me == 0 -> 1 : 0), b = (me == 2 -> 1 : 2), inputs; /* the others, in rank order */
    do
    :: e > EPOCHS -> break
    :: else ->
#ifndef RECEIVE_FIRST
        send_to(a, 1, 1 << me);
        send_to(b, 1, 1 << me);
#endif
        wait_for(a, 1);
#ifdef EARLY_OUT
        inputs = (1 << me) | (1 << a);
#else
        wait_for(b, 1);
        inputs = ALL;
#endif
#if SHOTS == 2
        send_to(a, 2, inputs); /* adding and sending are one: slots of terms are held meanwhile */
        send_to(b, 2, inputs);
#endif
#ifdef EARLY_OUT
        wait_for(b, 1);
#endif
        read_from(a, 1, 1 << a);
        read_from(b, 1, 1 << b);
#ifdef RECEIVE_FIRST
        send_to(a, 1, 1 << me);
        send_to(b, 1, 1 << me);
#endif
#if SHOTS == 2
        wait_for(a, 2);
        read_from(a, 2, ALL);
        wait_for(b, 2);
        read_from(b, 2, ALL);
#endif
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
