# SPDX-License-Identifier: Apache-2.0
"""For tools and tests that take all GPUs a program would see."""
import os
import re
import subprocess


def visible_gpus():
    """Their names for CUDA_VISIBLE_DEVICES; none where there is no driver."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [name for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name]
    try:
        return re.findall(r"^GPU (\d+)", subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout, re.M)
    except FileNotFoundError:
        return []
