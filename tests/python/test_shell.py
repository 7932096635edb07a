# SPDX-License-Identifier: Apache-2.0
"""What the program prints for other programs: completion for shells, its man page, scripts for Slurm."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runs import RUN

PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)


def printed(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


# --- completion

def completed(folder, line):
    """What bash offers for the last word of a line."""
    script = printed("completion", "bash") + f"""
COMP_WORDS=({line.rsplit(' ', 1)[0]} "{line.rsplit(' ', 1)[1]}")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_parhelion
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-uc", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_values(tmp_path):
    (tmp_path / "md.mdp").touch()
    (tmp_path / "folder").mkdir()
    assert {"run", "energy", "bench", "completion", "--version"} <= completed(tmp_path, "parhelion ")
    assert completed(tmp_path, "parhelion ru") == {"run"}
    assert completed(tmp_path, "parhelion run --dev") == {"--device"}
    assert completed(tmp_path, "parhelion run --device ") == {"auto", "cpu", "gpu"}
    assert completed(tmp_path, "parhelion check -q --halo staged-d") == {"staged-dma"}
    assert completed(tmp_path, "parhelion run -f m") == {"md.mdp"}
    assert completed(tmp_path, "parhelion run -I ") == {"folder"}
    assert completed(tmp_path, "parhelion run --ranks ") == set()
    assert {"bash", "zsh", "fish"} <= completed(tmp_path, "parhelion completion ")
    assert "scaling" in completed(tmp_path, "parhelion bench ") and "--plot" in completed(tmp_path, "parhelion bench scaling --json x --pl")
    assert "--plot" not in completed(tmp_path, "parhelion bench --")
    assert "--electrostatics" in completed(tmp_path, "parhelion generate ethanol-water --el")


def test_completion_has_every_option_of_the_help(tmp_path):
    for command in ("run", "energy", "check", "bench scaling", "jobscript"):
        flags = {flag for line in re.findall(r"^ {2,}(-[^ ]+)", printed(*command.split(), "--help").partition("What goes")[0], re.M) for flag in line.split(",")}
        assert flags == completed(tmp_path, f"parhelion {command} -"), command


@pytest.mark.parametrize("shell,options", [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_scripts_are_sound(tmp_path, shell, options):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script = tmp_path / "completion"
    script.write_text(printed("completion", shell))
    done = subprocess.run([shell, *options, script], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_fish_completes(tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("no fish here")
    script = tmp_path / "completion.fish"
    script.write_text(printed("completion", "fish"))

    def offered(line):
        text = subprocess.run(["fish", "-c", f"source {script}; complete -C '{line}'"], capture_output=True, text=True, check=True).stdout
        return {row.split("\t")[0] for row in text.splitlines()}

    assert {"run", "bench"} <= offered("parhelion ") and offered("parhelion run --device ") == {"auto", "cpu", "gpu"}
    assert "scaling" in offered("parhelion bench ") and "--plot" in offered("parhelion bench scaling --pl")


def test_another_shell_is_refused():
    assert "bash" in printed("completion", "tcsh", code=2)


# --- man page

def test_the_man_page_has_every_command_and_is_sound_roff():
    page = printed("man")
    for command in ("run", "energy", "check", "bench scaling", "jobscript", "completion"):
        assert re.search(rf"^\.SH {command.upper()}$", page, re.M), command
    if shutil.which("groff") is None:
        pytest.skip("no groff here")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=100n"], input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    text = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout).replace("−", "-").replace("‐", "-")
    assert "--device auto|cpu|gpu" in text and "run on CPUs takes no GPUs" in text


# --- the manual

def docs_folder():
    """Where the manual is, from the folder of the program: as it was configured."""
    cache = (Path(PROGRAM).parent / "CMakeCache.txt").read_text()
    given = re.search(r"^CMAKE_INSTALL_DOCDIR:\w+=(.+)$", cache, re.M)
    return given[1] if given else f"share/doc/{re.search(r'^CMAKE_PROJECT_NAME:.*=(.+)$', cache, re.M)[1]}"


@pytest.mark.parametrize("page,browser,opens,says", [("html/index.html", 0, True, ""), ("html/index.html", 1, True, "no browser was found"), ("html/index.html", None, False, "no browser was found"),
                                                     ("start.md", 0, False, "")])
def test_the_installed_manual_is_opened_or_its_place_is_told(tmp_path, page, browser, opens, says):
    program, file = tmp_path / "bin/parhelion", tmp_path / docs_folder() / "manual" / page
    for path in (program, file):
        path.parent.mkdir(parents=True)
    shutil.copy2(PROGRAM, program)
    file.touch()
    environment = {name: value for name, value in os.environ.items() if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    if browser is not None:
        script = tmp_path / "browser"
        script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\nexit {browser}\n')
        script.chmod(0o755)
        environment["BROWSER"] = str(script)
    done = subprocess.run([program, "docs"], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0 and done.stdout == f"{file}\n" and says in done.stderr and bool(says) == bool(done.stderr)
    assert (tmp_path / "opened").exists() == opens and (not opens or (tmp_path / "opened").read_text() == f"{file}\n")


def test_a_manual_that_is_not_there_is_told(tmp_path):
    (tmp_path / "bin").mkdir()
    shutil.copy2(PROGRAM, tmp_path / "bin/parhelion")
    done = subprocess.run([tmp_path / "bin/parhelion", "docs"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 6 and "was not installed" in done.stderr


# --- jobs

def slurm(folder, script, code, **environment):
    """Runs the script with an srun that ends with this code: the words of srun, those of scontrol, and the exit code."""
    bin = folder / "bin"
    bin.mkdir(exist_ok=True)
    for name in ("srun", "scontrol"):
        (bin / name).write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" > {folder}/{name}.words\n' + (f"exit {code}\n" if name == "srun" else ""))
        (bin / name).chmod(0o755)
        (folder / f"{name}.words").unlink(missing_ok=True)
    done = subprocess.run(["bash", script], cwd=folder, capture_output=True, text=True, env={"PATH": f"{bin}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", **environment})
    words = [path.read_text().split("\n")[:-1] if (path := folder / f"{name}.words").exists() else None for name in ("srun", "scontrol")]
    return *words, done.returncode


@pytest.mark.parametrize("code,restarts,queued", [(0, "0", False), (3, "0", True), (3, "41", True), (3, "1000", False), (5, "0", False), (6, "0", False)])
def test_a_job_that_is_not_done_goes_into_the_queue_again(tmp_path, code, restarts, queued):
    script = tmp_path / "job.sh"
    script.write_text(printed("jobscript", "--gpus", "4", "-o", "a b"))
    run, requeue, ended = slurm(tmp_path, script, code, SLURM_RESTART_COUNT=restarts)
    assert run[-5:] == ["-q", "-o", "a b", "--gpus", "4"] and "parhelion" in run
    assert requeue == (["requeue", "7"] if queued else None) and ended == code


@pytest.mark.parametrize("words,headers,run", [
    ([], ["--nodes=1", "--ntasks-per-node=1", "--exclusive", "--time=24:00:00"], ["--device", "cpu"]),
    (["--nodes", "4", "--cpus", "32"], ["--nodes=4", "--ntasks-per-node=1", "--cpus-per-task=32"], ["--device", "cpu"]),
    (["--gpus", "8"], ["--ntasks-per-node=1", "--gres=gpu:8"], ["--gpus", "8"]),
    (["--nodes", "2", "--gpus", "4", "--time", "2-00:00:00"], ["--nodes=2", "--ntasks-per-node=4", "--gres=gpu:4", "--time=2-00:00:00"],
     ["--device", "gpu", "--transport", "nvshmem"]),
    (["--partition", "long", "--account", "me", "--", "-f", "npt.mdp", "--ns", "100"], ["--partition=long", "--account=me"], ["-f", "npt.mdp", "--ns", "100"])], ids=str)
def test_a_job_asks_for_what_was_asked(tmp_path, words, headers, run):
    script = tmp_path / "job.sh"
    script.write_text(printed("jobscript", *words))
    subprocess.run(["bash", "-n", script], check=True)
    lines = re.findall(r"^#SBATCH (.*)$", script.read_text(), re.M)
    assert {*headers, "--signal=TERM@120", "--requeue"} <= set(lines) and len(lines) == len({line.split("=")[0] for line in lines})
    started = slurm(tmp_path, script, 0, SLURM_CPUS_PER_TASK="32")[0]
    assert started[-len(run):] == run


def test_words_for_the_run_are_judged_at_once():
    assert "--gpu" in printed("jobscript", "--", "--gpu", "4", code=2)
    assert "no time" in printed("jobscript", "--time", "tomorrow", code=2)


def test_a_job_that_runs_leaves_what_a_run_leaves(tmp_path):
    """With an srun that starts the program."""
    (tmp_path / "md.mdp").write_text(RUN)
    data = os.path.join(os.path.dirname(__file__), "..", "data", "refdata", "etoh")
    script = tmp_path / "job.sh"
    script.write_text(printed("jobscript", "--", "-c", f"{data}/conf.gro", "-p", f"{data}/topol.top", "--steps", "20", "--threads", "1"))
    (tmp_path / "srun").write_text('#!/bin/bash\nwhile [ "$1" != parhelion ]; do shift; done\nshift\nexec "$PARHELION_PROGRAM" "$@"\n')
    (tmp_path / "srun").chmod(0o755)
    done = subprocess.run(["bash", script], cwd=tmp_path, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and (tmp_path / "md.gro").exists(), done.stdout + done.stderr
