/* SPDX-License-Identifier: Apache-2.0
 * Messages that a proxy carries (src/comm/core/proxy_ring.hpp, src/comm/gpu/proxy.hpp): two sources, each with a buffer and a message an
 * epoch to a destination of its own, share a ring with a place for each of the two signal slots. The proxy takes descriptors in the
 * order of their tickets and queues a copy and two stores; the copy engine does them later, one after another. The destinations'
 * credits, which go through a ring of their own, are not modelled. When its data has been read a source overwrites its buffer; when
 * an epoch begins the destination's is overwritten. NETWORK: the destinations are on another node, and the proxy keeps each message
 * for a time of its own, the signal longer than the payload (src/comm/transports/puts_under_way.hpp): of the two under way, each
 * one's copy and stores come at any time.
 * Mutants: SMALL_RING (fewer places than signal slots), EARLY_NUMBER (the ticket's number before the descriptor), SIGNAL_FIRST (the
 * signal before the copy), EARLY_READ (the data counts as read before the copy), NO_READ (a source does not wait until its data has
 * been read), NO_CREDIT (a source does not wait until the destination has started), ANY_ORDER (a ticket that is taken by reading and
 * writing in two steps), NO_NUMBER (the number is not released). */
#ifndef EPOCHS
#define EPOCHS 3
#endif
#define SOURCES 2
#ifdef SMALL_RING
#define PLACES 1
#else
#define PLACES 2
#endif
#define GARBAGE 99
#define TICKETS (SOURCES * EPOCHS)

byte buffer[SOURCES];  /* of a source */
byte payload[SOURCES]; /* of its destination */
byte signal[SOURCES], credit[SOURCES], read_up_to[SOURCES];
byte tickets;
byte place_of[PLACES], place_epoch[PLACES], number[PLACES]; /* a descriptor: whose message, of which epoch; its ticket's number */
#ifdef NETWORK
#define ENGINES SOURCES
#else
#define ENGINES 1
#endif
chan stream[ENGINES] = [TICKETS] of { byte, byte };         /* what is queued, or on its way to another node */

inline push(s, e)
{
#ifdef ANY_ORDER
    t = tickets;
    tickets = t + 1;
#else
    d_step { t = tickets; tickets++ };
#endif
#ifdef EARLY_NUMBER
    number[t % PLACES] = t + 1;
#endif
    place_of[t % PLACES] = s;
    place_epoch[t % PLACES] = e;
#if !defined(EARLY_NUMBER) && !defined(NO_NUMBER)
    number[t % PLACES] = t + 1
#endif
}

proctype source(byte s)
{
    byte e = 1, t;
    do
    :: e > EPOCHS -> break
    :: else ->
        buffer[s] = e;
#ifndef NO_CREDIT
        credit[s] >= e;
#endif
        push(s, e);
#ifndef NO_READ
        read_up_to[s] >= e;
#endif
        buffer[s] = GARBAGE;
        e++
    od
}

proctype proxy()
{
    byte taken, s, e;
end:
    do
    :: number[taken % PLACES] == taken + 1 ->
        s = place_of[taken % PLACES];
        e = place_epoch[taken % PLACES];
        taken++;
        stream[s % ENGINES] ! s, e
    od
}

proctype copy_engine(byte engine)
{
    byte s, e;
end:
    do
    :: stream[engine] ? s, e ->
#ifdef SIGNAL_FIRST
        signal[s] = e;
        payload[s] = buffer[s];
        read_up_to[s] = e
#elif defined(EARLY_READ)
        read_up_to[s] = e;
        payload[s] = buffer[s];
        signal[s] = e
#else
        payload[s] = buffer[s];
        signal[s] = e;
        read_up_to[s] = e
#endif
    od
}

proctype destination(byte d)
{
    byte e = 1;
    do
    :: e > EPOCHS -> break
    :: else ->
        payload[d] = GARBAGE;
        credit[d] = e;
        signal[d] >= e;
        assert(payload[d] == e);
        assert(payload[d] == e); /* until the next start */
        e++
    od
}

init
{
    atomic { run source(0); run source(1); run proxy(); run copy_engine(0); run destination(0); run destination(1) }
#ifdef NETWORK
    run copy_engine(1)
#endif
}
