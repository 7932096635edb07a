// SPDX-License-Identifier: Apache-2.0
// Places the script into the program's read-only data.
        .section .rodata
        .global parhelion_plot_scaling, parhelion_plot_scaling_end
parhelion_plot_scaling:
        .incbin "plot_scaling.py"
parhelion_plot_scaling_end:
        .section .note.GNU-stack,"",%progbits
