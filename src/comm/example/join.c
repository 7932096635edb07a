/* SPDX-License-Identifier: Apache-2.0
 * Processes that mpirun has started add their numbers by the library: mpirun -n 4 ./join */
#include <mpi.h>
#include <parhelion_comm_mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    ph_comm* comm = NULL;
    ph_request* sum = NULL;
    double total;
    MPI_Init(&argc, &argv);
    if (ph_init_mpi(MPI_COMM_WORLD, NULL, &comm) != PH_SUCCESS) { goto failed; }
    total = ph_rank(comm) + 1;
    if (ph_pallreduce_init(comm, &total, &total, 1, 1, PH_DOUBLE, PH_SUM, &sum) != PH_SUCCESS) { goto failed; }
    if (ph_start(sum) != PH_SUCCESS || ph_pready(sum, 0) != PH_SUCCESS || ph_wait(sum) != PH_SUCCESS) { goto failed; }
    if (ph_rank(comm) == 0) { printf("%d ranks: %g\n", ph_ranks(comm), total); }
    if (ph_finalize(&comm) != PH_SUCCESS) { goto failed; }
    MPI_Finalize();
    return 0;
failed:
    fprintf(stderr, "%s\n", ph_error_message());
    return 1;
}
