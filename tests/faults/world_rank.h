/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rank of this process before MPI_Init, from what the launchers of Open MPI and MPICH set.
 */
#pragma once
#include <stdlib.h>

static int my_rank(void) {
    const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int i = 0; i < 2; ++i) {
        const char* value = getenv(names[i]);
        if (value) return atoi(value);
    }
    return 0;
}
