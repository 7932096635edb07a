# SPDX-License-Identifier: Apache-2.0
"""Processes that torchrun has started add their numbers: torchrun --nproc-per-node 4 join.py. So do those of mpirun or srun."""
import numpy
import parhelion_comm

with parhelion_comm.init() as comm:
    mine = numpy.full(1000, comm.rank + 1.0)
    total = comm.pallreduce_init(mine, mine)
    total.start()
    total.pready(0)
    total.wait()
    if comm.rank == 0:
        print(comm.ranks, "ranks:", mine[0])
