/* SPDX-License-Identifier: Apache-2.0
 * An all-reduce over a ring (src/comm/partitioned/schedule.cpp), one partition, in place: a channel from every rank to the next, with
 * credits. In step i a rank takes the message of chunk me - 1 - i, adds its input while there is something to add, and sends it on;
 * it holds the message's slot while it sends. From step RANKS - 1 on chunks are whole and become the result. What a payload is: the
 * epoch, the chunk, and a bit for each rank whose input is in it.
 * Mutants: DEPTH=1 (a slot that is held while the next rank waits to send into it), no CREDITS, NO_ACK, RECEIVE_FIRST (nobody sends
 * before it has received), EARLY_WAIT (waits for the message before), SKIP_EMPTY (a chunk
 * without elements, 0, is not signalled while it is waited for), EARLY_ACK (the slot is given back before it has been read). */
#define RANKS 3
#ifndef EPOCHS
#define EPOCHS 2
#endif
#define CHANNELS RANKS /* channel r leads from rank r to the next */
#include "channels.inc"
#define MESSAGES (2 * (RANKS - 1)) /* of a channel in an epoch */
#define ALL ((1 << RANKS) - 1)
#define CONTENT(e, chunk, inputs) (((e) % 4) * 64 + (chunk) * 16 + (inputs))
/* Of a chunk in the message of step i: those of i ranks from the one after the chunk on, in the end of all. */
#define FIRST(chunk, i) (((1 << (i)) - 1) << ((chunk) + 1))
#define INPUTS(chunk, i) ((i) >= RANKS -> ALL : (FIRST(chunk, i) | (FIRST(chunk, i) >> RANKS)) & ALL)
#ifdef EARLY_WAIT
#define AWAITED 0
#else
#define AWAITED 1
#endif
#define CHUNK(i) ((2 * RANKS + me - 1 - (i)) % RANKS)

byte buffer[RANKS * RANKS]; /* rank, chunk: input, then result */
#define BUFFER(chunk) buffer[me * RANKS + (chunk)]

proctype rank(byte me)
{
    byte e = 1, i, k, chunk, value, sent, taken; /* sent, taken: messages of all epochs */
    byte from = (me + RANKS - 1) % RANKS;
    do
    :: e > EPOCHS -> break
    :: else ->
        atomic {
            k = 0;
            do
            :: k < RANKS -> BUFFER(k) = CONTENT(e, k, 1 << me); k++
            :: else -> break
            od;
            i = 0
        }
        do
        :: i > MESSAGES -> break
        :: else ->
            chunk = CHUNK(i);
            if
#ifdef RECEIVE_FIRST
            :: i == 0 -> WAIT(from, taken + 1); value = BUFFER(chunk)
#else
            :: i == 0 -> value = BUFFER(chunk)
#endif
            :: else ->
                WAIT(from, taken + AWAITED);
#ifdef EARLY_ACK
                CREDIT(from, taken + 1);
#endif
                value = payload[CELL(from, taken + 1, 0)];
                READ(from, taken + 1, CONTENT(e, chunk, INPUTS(chunk, i)));
                if
                :: i < RANKS -> value = value | (BUFFER(chunk) & ALL)
                :: else
                fi
            fi;
            if
            :: i < MESSAGES ->
#ifdef SKIP_EMPTY
                if
                :: chunk == 0
                :: else ->
#endif
                WAIT_CREDIT(me, sent + 1);
                PACK(me, sent + 1, value);
                SIGNAL(me, sent + 1);
                sent++
#ifdef SKIP_EMPTY
                fi
#endif
            :: else
            fi;
            if
            :: i >= RANKS - 1 -> BUFFER(chunk) = value
            :: else
            fi;
            if
            :: i > 0 ->
                READ(from, taken + 1, CONTENT(e, chunk, INPUTS(chunk, i))); /* readable until the credit */
#if !defined(NO_ACK) && !defined(EARLY_ACK)
                CREDIT(from, taken + 1);
#endif
                taken++
            :: else
            fi;
            i++
        od;
        atomic {
            k = 0;
            do
            :: k < RANKS -> assert(BUFFER(k) == CONTENT(e, k, ALL)); k++
            :: else -> break
            od
        }
        e++
    od
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}
