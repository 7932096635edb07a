# SPDX-License-Identifier: Apache-2.0
"""Four ranks add their vectors, piece by piece: each piece leaves as soon as it is filled, and is read as soon as all have it."""
import numpy
from parhelion_comm import run

RANKS, PIECES, COUNT = 4, 8, 1000


def program(comm):
    mine = numpy.zeros((PIECES, COUNT))
    total = comm.pallreduce_init(mine, mine, PIECES)
    for step in range(1, 4):
        total.start()
        for piece in range(PIECES):
            mine[piece] = step * (comm.rank + 1)
            total.pready(piece)  # from here on the piece is on its way
        total.wait()
        assert (mine == step * 10).all()
    if comm.rank == 0:
        print("sum:", mine[0, 0])


run(program, RANKS)
