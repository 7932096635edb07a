/* SPDX-License-Identifier: Apache-2.0
 * The interface, in C, of the shared object that writes H5MD files. The program opens it when a run asks for such a file, and so
 * needs no HDF5 otherwise. Each call may come from any thread; calls for one file come one at a time. A call that fails returns
 * another value than parhelion_h5md_done and writes a sentence about the cause into `why`. */
#ifndef PARHELION_H5MD_H
#define PARHELION_H5MD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARHELION_H5MD_VERSION 1

enum
{
    parhelion_h5md_done = 0,
    parhelion_h5md_system = 1,  /* the disk, or the HDF5 library */
    parhelion_h5md_contents = 2 /* the file is not what the call expects */
};

enum
{
    parhelion_h5md_x,
    parhelion_h5md_v,
    parhelion_h5md_f,
    parhelion_h5md_arrays
};

typedef struct parhelion_h5md_plan
{
    const char *path, *title, *program_version;
    int64_t atoms;
    int32_t is_double;                  /* 0: arrays, times and boxes are stored as float */
    int32_t is_tilted;                  /* 0: a box has three edges; else nine numbers, one edge vector a row */
    int32_t has[parhelion_h5md_arrays]; /* 1: the file has this array */
    const int64_t* ids;                 /* numbers of the atoms in the topology, from 1 */
    const int32_t* species;             /* the index of each atom's type in species_names */
    const char* const* species_names;
    int32_t species_count;
    const double *masses, *charges; /* u, e */
} parhelion_h5md_plan;

typedef struct parhelion_h5md_frame
{
    int64_t step;
    double time;                                 /* ps */
    double box[9];                               /* edge vectors, nm */
    const double* arrays[parhelion_h5md_arrays]; /* atoms x 3 in nm, nm/ps, kJ/mol/nm; null: the frame has no such array */
} parhelion_h5md_frame;

/* The summary of a file: of its first group of particles. */
typedef struct parhelion_h5md_summary
{
    int64_t frames[parhelion_h5md_arrays];
    int64_t atoms;
    int32_t is_double;   /* 1: positions, or what comes in their place, are stored as double */
    int32_t version[2];  /* of the convention */
    char creator[160];   /* the program that wrote the file, and its version */
    double box[9];       /* edge vectors of the last frame, nm; zeros: the file has none, or in an unknown unit */
    int64_t steps[2];    /* first and last, of the first array that the file has; as the next two */
    double times[2];     /* ps; not a number: in an unknown unit */
    double intervals[2]; /* shortest and longest time from a frame to the next, ps; zeros if there is none */
} parhelion_h5md_summary;

typedef struct parhelion_h5md_calls
{
    int32_t version;
    /* Begins a new file, which replaces an existing one. If `kept` is not null, continues an existing file after as many frames
     * of each array, and drops later ones. */
    int (*open)(const parhelion_h5md_plan*, const int64_t* kept, void** file, char* why, size_t bytes);
    /* Adds a frame. It is in the file when the call returns, whatever becomes of the process. After an error the file ends with
     * the frame before, and no more frames can be added. */
    int (*write)(void* file, const parhelion_h5md_frame*, char* why, size_t bytes);
    int (*sync)(void* file, char* why, size_t bytes); /* returns when the frames would survive a power failure */
    int (*close)(void* file, char* why, size_t bytes);
    int (*summarise)(const char* path, parhelion_h5md_summary*, char* why, size_t bytes);
} parhelion_h5md_calls;

/* The only exported function. */
const parhelion_h5md_calls* parhelion_h5md_v1(void);

#ifdef __cplusplus
}
#endif

#endif
