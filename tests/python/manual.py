# SPDX-License-Identifier: Apache-2.0
"""The blocks of code in the manual: where they are, how one is run as its reader would, and what of a command can be judged without
running it.

Invisible comments above a block say how it is dealt with:

    <!-- not run: needs a GPU -->     it is not, for this reason; each `parhelion` command of it is still judged by the program
    <!-- run by: .ci/wheel -->        by what that file does
    <!-- first: COMMAND -->           the reader has something already: the command makes it
    <!-- steps: 20 -->                each `parhelion run` of it ends at this step, whatever it asks for

`python manual.py membrane FOLDER` makes files like those of CHARMM-GUI.
"""
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import stage_folders

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/user").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
# Their blocks are run by other tests.
ELSEWHERE = {"python.md": "tests/python/test_module_documents.py"}
MARKS = {"not run", "run by", "first", "steps"}
TEXT = {"text", ""}  # languages of what is no code
RUN = {"sh", "python", "ini"}  # an ini is a file, named by its title, that later blocks use
LAUNCHERS = {"exec", "srun", "mpirun", "mpiexec", "oshrun", "setarch", "env", "torchrun", "time"}
READ_FIRST = {"run", "check", "energy"}  # commands that judge their options before they look for files


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    title: str
    text: str
    marks: dict

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page):
    """Of a page, in order."""
    lines, found, at = page.read_text().split("\n"), [], 0
    while at < len(lines):
        fence = re.match(r"( *)```(\w*)(?: title=\"(.*)\")?$", lines[at])
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            marks, above = {}, at - 1
            while above >= 0 and (mark := re.match(r" *<!-- ([a-z ]+): (.+) -->$", lines[above])):
                marks[mark[1]] = mark[2]
                above -= 1
            indent = len(fence[1])
            found.append(Block(page, at + 1, fence[2], fence[3] or "", "\n".join(line[indent:] for line in lines[at + 1 : end]) + "\n", marks))
            at = end
        at += 1
    return found


class Reader:
    """Somebody who has a page in front of them: a folder, a shell whose variables and place stay from block to block."""

    def __init__(self, folder):
        self.folder, self.place = folder, folder / "here"
        self.place.mkdir()
        bin = folder / "bin"
        bin.mkdir()
        self._script(bin / "python", f'exec {shlex.quote(sys.executable)} "$@"')
        self._script(bin / "parhelion", f'exec {shlex.quote(sys.executable)} -B {shlex.quote(__file__)} as-written "$@"')
        self.environment = os.environ | {"PATH": f"{bin}:{os.environ['PATH']}", "DATA": str(ROOT / "tests/data/refdata"), "TESTS": str(ROOT / "tests/python"),
                                         "GMX_MAXBACKUP": "-1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}

    @staticmethod
    def _script(path, text):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def shell(self, text, steps=""):
        state = self.folder / "state"
        script = f'set -eo pipefail\nset -a\n{text}\nset +a\nunset MANUAL_STEPS\n{{ pwd; env -0; }} > "{state}"\n'
        done = subprocess.run(["bash", "-c", script], cwd=self.place, env=self.environment | ({"MANUAL_STEPS": steps} if steps else {}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=500)
        if done.returncode == 0:
            place, _, variables = state.read_text().partition("\n")
            self.place = Path(place)
            self.environment = dict(variable.split("=", 1) for variable in variables.split("\0") if "=" in variable)
        return done

    def run(self, block):
        """The finished process; None for what is a file to be written."""
        if "first" in block.marks:
            before = self.shell(block.marks["first"])
            if before.returncode:
                return before
        if block.language == "ini":
            (self.place / block.title).write_text(block.text)
            return None
        if block.language == "python":
            return subprocess.run([sys.executable, "-c", block.text], cwd=self.place, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)
        return self.shell(block.text, block.marks.get("steps", ""))


def run_as_written(words):
    """The program, of whose run no more steps are taken than $MANUAL_STEPS."""
    steps = os.environ.get("MANUAL_STEPS")
    if steps and words[:1] == ["run"]:
        asked = [i for i, word in enumerate(words) if word in ("--steps", "--ns")]
        words = [word for i, word in enumerate(words) if not any(i in (at, at + 1) for at in asked)] + ["--steps", steps]
    program = os.environ["PARHELION_PROGRAM"]
    os.execv(program, [program, *words])


# --- commands that are not run

def commands(text):
    """The words behind `parhelion` of each command of a shell's text."""
    text = text.replace("\\\n", " ")
    for line in text.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>()")
        lexer.whitespace_split, lexer.commenters = True, "#"
        try:
            words = list(lexer)
        except ValueError:  # a quotation of several lines
            continue
        segment = []
        for word in [*words, ";"]:
            if set(word) <= set(";&|<>()"):
                yield from of_segment(segment)
                segment = []
            else:
                segment.append(word)


def of_segment(words):
    if words[:1] == ["do"]:
        words = words[1:]
    at = next((i for i, word in enumerate(words) if word == "parhelion" or word.endswith("/parhelion")), None)
    if at is not None and (at == 0 or words[0] in LAUNCHERS or all("=" in word for word in words[:at])):
        yield words[at + 1 :]


def inline_commands(page):
    """Of a page's text, the words behind `parhelion`; what is left open (...) ends a command."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`(parhelion [^`]*)`", text):
        span = re.sub(r"\\\|.*", "", span.partition("...")[0].partition("…")[0])  # of a choice the first
        yield [re.sub(r"[\[\]]", "", word) for word in shlex.split(span)[1:]]


@cache
def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


@cache
def flags_and_commands(program, *command):
    text = help_of(program, *command).partition("What goes with what:")[0]
    flags = {flag for line in re.findall(r"^ {2,}(-[^ ]+)", text, re.M) for flag in line.split(",")}
    return flags, set(re.findall(r"^ {2}(\w[\w-]*)  ", text.partition("Subcommands:")[2], re.M))


def complaint(program, words, folder):
    """What the program has against a command; empty: nothing. `run`, `check` and `energy` judge all but the files, which an empty
    folder has none of; of others the flags are judged."""
    if "--" in words:  # what jobscript hands on
        at = words.index("--")
        return complaint(program, words[:at], folder) or complaint(program, ["run", *words[at + 1 :]], folder)
    command = []
    while words and words[0] in flags_and_commands(program, *command)[1]:
        command, words = [*command, words[0]], words[1:]
    if not command and words and not words[0].startswith("-") and words[0].islower():
        return f"{words[0]} is no command"
    known = flags_and_commands(program, *command)[0]
    unknown = [word for word in words if re.match(r"--?[A-Za-z]", word) and word.partition("=")[0] not in known]
    if unknown:
        return f"{' '.join(command)} has no {unknown[0]}"
    if folder is None or command[:1] not in ([name] for name in READ_FIRST):
        return ""
    done = subprocess.run([program, *command, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.stderr if "Run with --help" in done.stderr + done.stdout else ""


# --- files that readers have

def membrane(folder):
    """A small membrane with the names of CHARMM-GUI's files."""
    folder = Path(folder)
    stage_folders.write("membrane", folder)
    (folder / "conf.gro").rename(folder / "step5_input.gro")
    for path in folder.glob("step*.mdp"):
        kind = {"step6.0": "minimization", "step7": "production"}.get(path.stem, "equilibration")
        path.rename(folder / f"{path.stem}_{kind}.mdp")


if __name__ == "__main__":
    {"as-written": run_as_written, "membrane": lambda words: membrane(*words)}[sys.argv[1]](sys.argv[2:])
