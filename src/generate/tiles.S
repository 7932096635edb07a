// SPDX-License-Identifier: Apache-2.0
// Places the files into the program's read-only data.
        .section .rodata
        .global parhelion_molecules, parhelion_molecules_end
        .global parhelion_tile_3k, parhelion_tile_3k_end, parhelion_tile_45k, parhelion_tile_45k_end
parhelion_molecules:
        .incbin "ethanol_water.top"
parhelion_molecules_end:
parhelion_tile_3k:
        .incbin "ethanol_water_3k.xtc"
parhelion_tile_3k_end:
parhelion_tile_45k:
        .incbin "ethanol_water_45k.xtc"
parhelion_tile_45k_end:
        .section .note.GNU-stack,"",%progbits
