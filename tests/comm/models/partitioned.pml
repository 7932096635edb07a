/* SPDX-License-Identifier: Apache-2.0
 * A partitioned message (src/comm/partitioned): two partitions, a thread that fills and marks each, the source's own thread, which
 * starts epochs, waits, and sends what was marked before the destination allowed it; and the destination. PER_SIGNAL=2: both
 * partitions travel under one signal. STAGED: the source copies into staging memory, and a process per signal carries it later.
 * When an epoch has ended the source's buffer is overwritten, when one begins the destination's is.
 * Mutants: NO_CREDIT (nobody asks whether the destination has started), EARLY_CREDIT (the next epoch is allowed before this one has
 * been read), FIRST_SIGNALS (the first of a group signals), EARLY_END (the source's epoch ends with the first signal), NO_CLAIM (who
 * sends a marked partition does not take it first), NO_ADVANCE (nobody sends what was marked too early), NO_STAGING (carried from
 * the buffer itself). */
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef PER_SIGNAL
#define PER_SIGNAL 1
#endif
#define PARTITIONS 2
#define SIGNALS (PARTITIONS / PER_SIGNAL)
#define READY(e) (2 * (e))
#define TAKEN(e) (2 * (e) + 1)
#define GARBAGE 99

byte buffer[PARTITIONS];  /* of the source */
byte payload[PARTITIONS]; /* of the destination */
byte mark[PARTITIONS] = 1;
byte arrivals[SIGNALS];
byte signal[SIGNALS];
byte published, credit;
byte started, ended; /* epochs, as the source's threads tell each other */

#ifdef STAGED
byte staging[PARTITIONS];
byte wire[SIGNALS]; /* epoch under way, 0: none */
active [SIGNALS] proctype carry() /* _pid: the signal */
{
#ifdef NO_STAGING
#define CARRIED buffer
#else
#define CARRIED staging
#endif
end:
    do
    :: wire[_pid] != 0 ->
        payload[_pid * PER_SIGNAL] = CARRIED[_pid * PER_SIGNAL];
#if PER_SIGNAL == 2
        payload[1] = CARRIED[1];
#endif
        d_step { signal[_pid] = wire[_pid]; wire[_pid] = 0 }
    od
}
#define COPY(p) staging[p] = buffer[p]
#define SIGNAL(s, e) d_step { assert(wire[s] == 0); wire[s] = e }
#else
#define COPY(p) payload[p] = buffer[p]
#define SIGNAL(s, e) signal[s] = e
#endif

#ifdef NO_CREDIT
#define IS_PREPARED(e) true
#else
#define IS_PREPARED(e) (credit >= (e))
#endif
#ifdef FIRST_SIGNALS
#define IS_LAST(s, e) (arrivals[s] == ((e) - 1) * PER_SIGNAL + 1)
#else
#define IS_LAST(s, e) (arrivals[s] == (e) * PER_SIGNAL)
#endif
#ifdef EARLY_END
#define IS_COMPLETE(e) (published > ((e) - 1) * SIGNALS)
#else
#define IS_COMPLETE(e) (published == (e) * SIGNALS)
#endif

inline send_if_ready(p, e)
{
#ifdef NO_CLAIM
    is_mine = mark[p] == READY(e);
    if :: is_mine -> mark[p] = TAKEN(e) :: else fi;
#else
    d_step { is_mine = mark[p] == READY(e); if :: is_mine -> mark[p] = TAKEN(e) :: else fi };
#endif
    if
    :: is_mine ->
        COPY(p);
        d_step { arrivals[(p) / PER_SIGNAL]++; is_last = IS_LAST((p) / PER_SIGNAL, e) };
        if
        :: is_last -> SIGNAL((p) / PER_SIGNAL, e); published++
        :: else
        fi
    :: else
    fi
}

proctype thread(byte p)
{
    byte e = 1;
    bool is_mine, is_last;
    do
    :: e > EPOCHS -> break
    :: else ->
        started >= e;
        buffer[p] = e;
        mark[p] = READY(e);
        if
        :: IS_PREPARED(e) -> send_if_ready(p, e)
        :: else
        fi;
        ended >= e;
        e++
    od
}

proctype source()
{
    byte e = 1;
    bool is_mine, is_last;
    do
    :: e > EPOCHS -> break
    :: else ->
        started = e;
        do
        :: IS_COMPLETE(e) -> break
#ifndef NO_ADVANCE
        :: IS_PREPARED(e) && (mark[0] == READY(e) || mark[1] == READY(e)) -> send_if_ready(0, e); send_if_ready(1, e)
#endif
        od;
        buffer[0] = GARBAGE;
        buffer[1] = GARBAGE;
        ended = e;
        e++
    od
}

inline read(p, e)
{
    signal[(p) / PER_SIGNAL] >= e;
    assert(payload[p] == e)
}

proctype destination()
{
    byte e = 1;
    do
    :: e > EPOCHS -> break
    :: else ->
#ifdef EARLY_CREDIT
        if :: e == 1 -> credit = e :: else fi;
#else
        payload[0] = GARBAGE;
        payload[1] = GARBAGE;
        credit = e;
#endif
        read(0, e);
        read(1, e);
#ifdef EARLY_CREDIT
        credit = e + 1;
#endif
        assert(payload[0] == e); /* until the next start */
        assert(payload[1] == e);
        e++
    od
}

init
{
    atomic { run thread(0); run thread(1); run source(); run destination() }
}
