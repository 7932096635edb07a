# SPDX-License-Identifier: Apache-2.0
"""What the program shows on terminals of 80 and 160 columns and in a file: the words of the files in tests/data/terminal, no line longer
than the terminal, no colours."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from runs import DATA, RUN

FOLDER = Path(__file__).resolve().parents[1] / "data" / "terminal"
GOLDEN = FOLDER / "run.txt"
PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)


SYSTEM = ["-c", DATA / "conf.gro", "-p", DATA / "topol.top", "--device", "cpu", "--threads", "1"]


def command(steps):
    return [PROGRAM, "run", *SYSTEM, "--steps", str(steps)]


def on_a_terminal(folder, columns, words=None, code=0, **environment):
    """All that a terminal of this width is sent by a run, or by the program with other words."""
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *words] if words else command(100), cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | environment)
    os.close(theirs)
    sent = b""
    while True:
        try:
            sent += os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
    os.close(mine)
    assert process.wait() == code, sent
    return sent.decode().replace("\r\n", "\n")


def shown(sent):
    """Lines that were broken are put together, numbers become #, what depends on the machine ...; phases are left out."""
    text = re.sub(r"[^\n]*\r", "", sent)
    text = re.sub(r"\n {10}(?! |\()", " ", text)
    text = re.sub(r"^ .* us/step +[\d.]+ %\n", "", text, flags=re.M)
    text = re.sub(r"^parhelion .*\n.*\n", "parhelion ...\n...\n", text, flags=re.M)
    text = re.sub(r"(?<=steps in at most ).*", "# s", text)
    text = re.sub(r"(?<=pair kernel )\S+", "...", text)
    text = re.sub(r"^ *\d+ %  step .*$", "% ...", text, flags=re.M)
    text = re.sub(r"(?<![\w^.])[-+]?\d+(\.\d+)?(e[-+]\d+)?", "#", text)
    text = re.sub(r"# [kM]B", "# B", text)
    return re.sub(r"(% \.\.\.\n)+", "% ...\n", re.sub(r" +$", "", text, flags=re.M))


@pytest.fixture()
def folder(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal_shows_the_words_of_the_file(folder, columns):
    sent = on_a_terminal(folder, columns)
    assert shown(sent) == GOLDEN.read_text()
    lines = [line for part in sent.split("\n") for line in part.split("\r")]
    assert [line for line in lines if len(line) > columns and not line.startswith("python ")] == []
    assert any(len(line) > 80 for line in lines if not line.startswith("python ")) == (columns > 80)


@pytest.mark.parametrize("columns", [80, 160])
def test_a_check_and_its_errors_fit_the_terminal(folder, columns):
    sent = on_a_terminal(folder, columns, ["check", *SYSTEM])
    assert shown(sent) == (FOLDER / "check.txt").read_text()
    (folder / "md.mdp").write_text(RUN.replace("tau-t = 0.1", "tau_tt = 0.1").replace("nsttcouple", "x"))
    errors = on_a_terminal(folder, columns, ["check", *SYSTEM], code=4)
    assert shown(errors) == (FOLDER / "errors.txt").read_text()
    assert max(map(len, (sent + errors).split("\n"))) <= columns


@pytest.mark.parametrize("command", [["run"], ["bench", "scaling"], ["jobscript"], []], ids=" ".join)
def test_help_fits_the_terminal_and_is_whole_in_a_file(folder, command):
    whole = subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout
    narrow = on_a_terminal(folder, 100, [*command, "--help"])
    assert max(map(len, narrow.split("\n"))) <= 100
    assert "".join(narrow.split()) == "".join(whole.split())
    assert all(re.match(r" {2,10}\S| {30}\S|\S|$", line) for line in narrow.split("\n"))  # below the descriptions


def test_a_file_has_the_same_words_and_no_broken_lines(folder):
    done = subprocess.run(command(100), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0 and "\r" not in done.stdout
    assert re.sub(r"^% \.\.\.\n", "", shown(done.stdout), flags=re.M) == re.sub(r"^% \.\.\.\n", "", GOLDEN.read_text(), flags=re.M)
    assert re.search(r"^files     .{90,}$", done.stdout, re.M)


def test_a_run_that_was_stopped_says_so(folder):
    done = subprocess.run([*command(1000000), "--hours", "0.0003"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and re.search(r"^stopped   \d+ steps in ", done.stdout, re.M)


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_there_are_no_colours(folder, environment):
    assert "\x1b" not in on_a_terminal(folder, 80, **environment)
