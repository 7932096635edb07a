# SPDX-License-Identifier: Apache-2.0
"""For tools that simulate a box of the series with settings of their own."""
import subprocess


def prepare(program, atoms, settings, folder):
    """conf.gro, topol.top and md.mdp, with `settings` in place of what the series says."""
    subprocess.run([program, "generate", "ethanol-water", "--atoms", str(atoms), "-d", folder], check=True, stdout=subprocess.DEVNULL)
    lines = [line for line in (folder / "md.mdp").read_text().splitlines() if line.split("=")[0].strip() not in settings]
    (folder / "md.mdp").write_text("\n".join(lines + [f"{key} = {value}" for key, value in settings.items()]) + "\n")
