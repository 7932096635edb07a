/* SPDX-License-Identifier: Apache-2.0
 * What plugins/openshmem.cpp calls of OpenSHMEM, in version 1.4 or 1.5 as PARHELION_TEST_SHMEM_MINOR says. The library below it,
 * shmem.cpp, is for tests alone. */
#ifndef PARHELION_TEST_SHMEM_H
#define PARHELION_TEST_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION PARHELION_TEST_SHMEM_MINOR
#define SHMEM_MAX_NAME_LEN 64

enum
{
    SHMEM_THREAD_SINGLE,
    SHMEM_THREAD_FUNNELED,
    SHMEM_THREAD_SERIALIZED,
    SHMEM_THREAD_MULTIPLE
};

#ifdef __cplusplus
extern "C" {
#endif

void shmem_info_get_version(int* major, int* minor);
void shmem_info_get_name(char* name);
int shmem_init_thread(int requested, int* provided);
void shmem_finalize(void);
void shmem_global_exit(int status);
int shmem_my_pe(void);
int shmem_n_pes(void);
void* shmem_align(size_t alignment, size_t size);
void shmem_free(void* memory);
void shmem_putmem(void* dest, const void* source, size_t bytes, int pe);
void shmem_long_atomic_set(long* dest, long value, int pe);
void shmem_fence(void);
void shmem_quiet(void);
void shmem_barrier_all(void);
#if SHMEM_MINOR_VERSION >= 5
enum
{
    SHMEM_SIGNAL_SET = 7 /* as good as any */
};
void shmem_putmem_signal(void* dest, const void* source, size_t bytes, uint64_t* signal, uint64_t value, int operation, int pe);
#endif

#ifdef __cplusplus
}
#endif

#endif
