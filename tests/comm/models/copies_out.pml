/* SPDX-License-Identifier: Apache-2.0
 * A receive into memory of the caller (src/comm/partitioned/copies_out.hpp): a source that stores two partitions into the slot once it
 * has the credit of an epoch; two threads of the destination that ask for partitions in any order, and copy the one that has arrived;
 * and the destination's own thread, which waits for the end of the epoch, uses the buffer and starts the next.
 * Mutants: NO_CLAIM (who finds a partition not out copies it, also while another does, or later), EARLY_CREDIT (the next epoch is
 * allowed once all has arrived, though not all is out), EARLY_OUT (a partition is out before it has been copied). */
#ifndef EPOCHS
#define EPOCHS 3
#endif
#define PARTITIONS 2
#define CLAIMED(e) (2 * (e))
#define OUT(e) (2 * (e) + 1)
#define GARBAGE 99
#define CHANGED(e) (50 + (e)) /* by the caller, who may once it is out */

byte slot[PARTITIONS];    /* where the source stores */
byte payload[PARTITIONS]; /* the caller's buffer */
byte mark[PARTITIONS];
byte signal[PARTITIONS];
byte credit;
bool changed[PARTITIONS]; /* in this epoch */
byte started, reading; /* epochs; how many threads of the destination are between start and wait */

active proctype source()
{
    byte e = 1;
    do
    :: e <= EPOCHS ->
        credit >= e;
        slot[0] = GARBAGE; /* while it is stored */
        slot[0] = e;
        signal[0] = e;
        slot[1] = GARBAGE;
        slot[1] = e;
        signal[1] = e;
        e++
    :: else -> break
    od
}

/* Leaves is_out. */
inline take(p, e)
{
#ifdef NO_CLAIM
    is_mine = mark[p] != OUT(e);
#else
    d_step { is_mine = mark[p] != OUT(e) && mark[p] != CLAIMED(e); if :: is_mine -> mark[p] = CLAIMED(e) :: else fi };
#endif
    if
    :: is_mine ->
#ifdef EARLY_OUT
        mark[p] = OUT(e);
#endif
        copied = slot[p];
        payload[p] = copied;
        mark[p] = OUT(e)
    :: else
    fi;
    is_out = mark[p] == OUT(e)
}

active [2] proctype reader()
{
    byte e = 1, p, copied;
    bool is_mine, is_out;
    do
    :: e <= EPOCHS ->
end_of_run:
        started >= e; /* or never again */
        if :: p = 0 :: p = 1 fi;
        if
        :: started == e ->
            atomic { if :: started == e -> reading++; is_out = true :: else -> is_out = false fi };
            if
            :: is_out ->
                is_out = false;
                if
                :: signal[p] >= e -> take(p, e)
                :: else
                fi;
                if
                :: is_out ->
                    if
                    :: atomic { !changed[p] -> assert(payload[p] == e); payload[p] = CHANGED(e); changed[p] = true }
                    :: changed[p] -> assert(payload[p] == CHANGED(e))
                    fi
                :: else
                fi;
                reading--
            :: else
            fi
        :: else
        fi;
        e++
    :: else -> break
    od
}

active proctype owner()
{
    byte e = 1, copied;
    bool is_mine, is_out;
    do
    :: e <= EPOCHS ->
        payload[0] = GARBAGE; /* the caller's between epochs */
        payload[1] = GARBAGE;
        changed[0] = false;
        changed[1] = false;
        started = e;
        credit = e;
        signal[0] >= e && signal[1] >= e;
#ifdef EARLY_CREDIT
        credit = e + 1;
#endif
        is_out = false;
        do
        :: !is_out -> take(0, e)
        :: else -> break
        od;
        is_out = false;
        do
        :: !is_out -> take(1, e)
        :: else -> break
        od;
        atomic { reading == 0 -> started = 0 } /* threads ask between start and wait alone */
        assert(payload[0] == (changed[0] -> CHANGED(e) : e));
        assert(payload[1] == (changed[1] -> CHANGED(e) : e));
        e++
    :: else -> break
    od
}
