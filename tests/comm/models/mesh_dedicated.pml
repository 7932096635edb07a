/* SPDX-License-Identifier: Apache-2.0
 * Ranks for the mesh alone (src/mesh_exchange/dedicated.hpp): ranks 0 and 1 have atoms, 2 and 3 the mesh. In a step each of the first
 * sends atoms to each of the second, these exchange spectra there and back, and send forces to all who sent atoms. One slot each, no
 * credits. REST: a particle rank reads the forces once more before it packs the next atoms, as the rest of forces is added late. Mesh
 * ranks read what came in one exchange before they signal the next.
 * Mutants: EARLY_ATOMS (of the next step, before forces have come); LATER (a mesh rank reads atoms once more after its forces are
 * signalled); NO_WAIT_ATOMS (of one of two); NO_WAIT_SPECTRUM; NO_WAIT_FORCES (of one of two); SKIP_EMPTY (a mesh rank without
 * visitors sends no forces); RECEIVE_FIRST (a mesh rank waits for the other's spectrum before it sends its own). */
#define CHANNELS 12
#ifndef DEPTH
#define DEPTH 1
#endif
#include "channels.inc"
/* p, m: 0 or 1. */
#define ATOMS(p, m) (2 * (p) + (m))
#define FORCES(p, m) (4 + 2 * (p) + (m))
#define THERE(m) (8 + (m)) /* from m to the other */
#define BACK(m) (10 + (m))

proctype particles(byte p)
{
    short e = 1;
#ifdef EARLY_ATOMS
    PACK(ATOMS(p, 0), 1, 0); PACK(ATOMS(p, 1), 1, 0); SIGNAL(ATOMS(p, 0), 1); SIGNAL(ATOMS(p, 1), 1);
#endif
    do
    :: e > EPOCHS -> break
    :: else ->
#ifdef EARLY_ATOMS
        if
        :: e < EPOCHS -> PACK(ATOMS(p, 0), e + 1, e); PACK(ATOMS(p, 1), e + 1, e); SIGNAL(ATOMS(p, 0), e + 1); SIGNAL(ATOMS(p, 1), e + 1)
        :: else
        fi;
#else
        PACK(ATOMS(p, 0), e, e);
        SIGNAL(ATOMS(p, 0), e);
        PACK(ATOMS(p, 1), e, e);
        SIGNAL(ATOMS(p, 1), e);
#endif
        WAIT(FORCES(p, 0), e);
        READ(FORCES(p, 0), e, e);
#ifndef NO_WAIT_FORCES
        WAIT(FORCES(p, 1), e);
#endif
        READ(FORCES(p, 1), e, e);
#ifdef REST
        READ(FORCES(p, 0), e, e);
#endif
        e++
    od
}

proctype mesh(byte m)
{
    short e = 1;
    byte other = 1 - m;
    do
    :: e > EPOCHS -> break
    :: else ->
        WAIT(ATOMS(0, m), e);
#ifndef NO_WAIT_ATOMS
        WAIT(ATOMS(1, m), e);
#endif
        READ(ATOMS(0, m), e, e);
        READ(ATOMS(1, m), e, e);
#ifdef RECEIVE_FIRST
        WAIT(THERE(other), e);
#endif
        PACK(THERE(m), e, e);
        SIGNAL(THERE(m), e);
#ifndef NO_WAIT_SPECTRUM
        WAIT(THERE(other), e);
#endif
        READ(THERE(other), e, e);
        PACK(BACK(m), e, e);
        SIGNAL(BACK(m), e);
        WAIT(BACK(other), e);
        READ(BACK(other), e, e);
        PACK(FORCES(0, m), e, e);
        SIGNAL(FORCES(0, m), e);
#ifdef SKIP_EMPTY
        if
        :: m == 0 || e != 2 -> PACK(FORCES(1, m), e, e); SIGNAL(FORCES(1, m), e)
        :: else
        fi;
#else
        PACK(FORCES(1, m), e, e);
        SIGNAL(FORCES(1, m), e);
#endif
#ifdef LATER
        READ(ATOMS(0, m), e, e);
#endif
        e++
    od
}

init
{
    atomic { run particles(0); run particles(1); run mesh(0); run mesh(1) }
}
