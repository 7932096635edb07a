/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the C tests. */
#ifndef PARHELION_TESTS_COMM_C_CHECK_H
#define PARHELION_TESTS_COMM_C_CHECK_H

#include "comm/c/parhelion_comm.h"

#include <stdio.h>

/* If the condition is false: prints it with the library's message, and returns 1. In a rank's program this stops the run. */
#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
        {                                                                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, ph_error_message());                              \
            return 1;                                                                                                            \
        }                                                                                                                        \
    } while (0)

#endif
