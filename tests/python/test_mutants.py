# SPDX-License-Identifier: Apache-2.0
"""The mutation tools: each mutant can still be made of the sources, what its end is taken for, and when a tool fails."""
import functools
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import mutants  # noqa: E402
import mutate_gpu_protocol  # noqa: E402
import mutate_protocol  # noqa: E402
from mutants import Outcome, Result  # noqa: E402

ON_CPUS = mutate_protocol.find_mutants(["src/comm", "src/halo", "src/mesh_exchange"])
ON_GPUS = {name: mutate_gpu_protocol.find_mutants(suite) for name, suite in mutate_gpu_protocol.SUITES.items()}
FAILED = "[ RUN      ] A.b\n[  FAILED  ] A.b (3 ms)\n"


# --- the mutants


@pytest.mark.parametrize("tool, made", [(mutate_protocol, ON_CPUS), (mutate_gpu_protocol, sum(ON_GPUS.values(), []))], ids=["cpus", "gpus"])
def test_every_operator_still_finds_something_to_break(tool, made):
    used = {m.name.split(": ")[0] for m in made}
    assert [o.name for o in tool.OPERATORS if o.name not in used] == []
    files = sorted({m.file for m in made})
    for operator in tool.OPERATORS:  # several have one name
        assert any(list(mutants.mutants_of(file, [operator])) for file in files), f"{operator.name}: {operator.pattern}"


@pytest.mark.parametrize("made", [ON_CPUS, *ON_GPUS.values()], ids=["cpus", *ON_GPUS])
def test_every_mutant_differs_from_its_source_and_from_the_others(made):
    assert made
    assert [name for name, count in Counter(m.name for m in made).items() if count > 1] == []
    for m in made:
        assert m.text != (ROOT / m.file).read_text(), m.name
    assert len({(m.file, m.text) for m in made}) == len(made)


@pytest.mark.parametrize("tool, made", [(mutate_protocol, ON_CPUS), (mutate_gpu_protocol, sum(ON_GPUS.values(), []))], ids=["cpus", "gpus"])
def test_every_exception_is_that_of_one_mutant(tool, made):
    for place in tool.EXCEPTIONS:
        assert len({m.name for m in made if m.place == place}) == 1, place


def names_in(text):
    return set(re.findall(r"[A-Za-z_]\w*", mutants.blank_comments(text)))


@functools.cache
def names_known_to(path):
    """Those in the code of a source and of what it includes of ours."""
    text, names = path.read_text(), names_in(path.read_text())
    for included in re.findall(r'^#include "([^"]*)"', text, re.M):
        if (ROOT / "src" / included).is_file():
            names |= names_known_to(ROOT / "src" / included)
    return names


@pytest.mark.parametrize("made", [ON_CPUS, *ON_GPUS.values()], ids=["cpus", *ON_GPUS])
def test_mutants_use_no_name_that_their_source_does_not_know(made):
    always = names_in(mutants.TAKE) | {"false", "true", "auto", "const", "memory_order_relaxed", "memory_order_acquire", "memory_order_release", "int32_t",
                                       "parhelion", "test", "be_late", "__syncthreads", "gridDim", "x", "y", "z", "s", "t", "take_without_waiting"}
    for m in made:
        assert names_in(m.text) - names_known_to(ROOT / m.file) - always == set(), m.name


def test_a_name_that_is_gone_is_noticed(monkeypatch):
    gone = mutants.Operator("gone", r"(?<=is_first = )Atomics::exchange[^;]*", "(watch.ranks > 0)")
    made = list(mutants.mutants_of("src/comm/core/signal.hpp", [gone]))
    with pytest.raises(AssertionError, match="gone: src/comm/core/signal.hpp"):
        test_mutants_use_no_name_that_their_source_does_not_know(made)


# --- what their end is taken for


@pytest.mark.parametrize(
    "script, outcome, how",
    [
        ("echo '[  PASSED  ] 3 tests.'", Outcome.SURVIVED, ""),
        ("printf '%s' '" + FAILED + "'; exit 1", Outcome.KILLED, "failure of A.b"),
        ("echo no GPU; printf '%s' '" + FAILED + "'; exit 1", Outcome.KILLED, "failure of A.b"),
        ("printf '[ RUN      ] A.c\n'; kill -SEGV $$", Outcome.KILLED, "crash in A.c"),
        ("echo 'WARNING: ThreadSanitizer: data race'; exit 66", Outcome.KILLED, "race in start"),
        ("printf '[ RUN      ] A.d\n'; sleep 60", Outcome.TIMED_OUT, "in A.d"),
        ("echo 'error: time-out'; printf '%s' '" + FAILED + "'; exit 1", Outcome.KILLED, "failure of A.b"),
    ],
    ids=["passes", "fails", "fails_without_a_GPU", "crashes", "races", "hangs", "fails_at_a_bound"],
)
def test_outcome(script, outcome, how):
    assert mutants.run_tests(["bash", "-c", script], {}, 2 if outcome == Outcome.TIMED_OUT else 60) == Result(outcome, how)


def test_a_program_that_skips_everything_says_nothing():
    with pytest.raises(mutants.Skipped):
        mutants.run_tests(["bash", "-c", "exit 77"], {}, 60)


def test_results_are_read_as_they_were_written():
    for result in (Result(Outcome.KILLED, "failure of A.b; timed out after 1 s\twaiting"), Result(Outcome.SURVIVED)):
        assert Result.parse(str(result)) == result


def test_what_does_not_compile_is_an_outcome_of_its_own():
    assert mutants.first_error("a\nsignal.hpp:88: error: no member 'ranks'\nb") == Result(Outcome.NOT_COMPILED, "signal.hpp:88: error: no member 'ranks'")


# --- runs that are void


def program(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


FAILS = f"printf '%s' '{FAILED}'; exit 1"
FAILS_SOON = f'[ "$PARHELION_TEST_DEADLINE" -ge 3 ] || {{ {FAILS}; }}'  # unless deadlines are longer


@pytest.mark.parametrize(
    "original, mutant, outcome",
    [("exit 0", FAILS, Outcome.KILLED), (FAILS_SOON, FAILS_SOON, Outcome.SURVIVED), (FAILS_SOON, FAILS, Outcome.KILLED), (FAILS, FAILS, Outcome.VOID)],
    ids=["killed", "both_are_too_slow_at_first", "killed_when_not_too_slow", "always_too_slow"],
)
def test_an_end_that_the_original_shares_is_not_counted(tmp_path, original, mutant, outcome):
    tests = mutate_gpu_protocol.Tests("*", program(tmp_path, "0", original), 1, 20)
    assert tests.judge(program(tmp_path, "1", mutant)).outcome == outcome


@pytest.mark.parametrize("original, stretch", [("exit 0", 1), (FAILS_SOON, 3)])
def test_deadlines_are_stretched_until_the_original_passes(tmp_path, original, stretch):
    assert mutate_gpu_protocol.Tests("*", program(tmp_path, "0", original), 1, 20).passed_by_original().stretch == stretch


def test_nothing_is_shown_if_the_original_never_passes(tmp_path):
    suite = mutate_gpu_protocol.Suite("test", [], "", ["*"])
    with pytest.raises(RuntimeError, match="does not pass"):
        mutate_gpu_protocol.tests_of(suite, program(tmp_path, "0", FAILS), False)


# --- when a tool fails


@pytest.mark.parametrize(
    "outcome, code", [(Outcome.KILLED, 0), (Outcome.SURVIVED, 1), (Outcome.NOT_COMPILED, 1), (Outcome.TIMED_OUT, 1), (Outcome.VOID, 1)], ids=lambda v: getattr(v, "name", "")
)
def test_exit_code_and_counts(outcome, code, capsys):
    results = {"no wait: a.hpp:1": Result(Outcome.KILLED), "no wait: b.hpp:2": Result(outcome, "how")}
    assert mutants.report(results, {}) == code
    said = capsys.readouterr().out
    counts = dict.fromkeys(Outcome, 0)
    for result in results.values():
        counts[result.outcome] += 1
    assert said.splitlines()[0] == "2 mutants: " + ", ".join(f"{n} {o.value}" for o, n in counts.items())
    assert ("no wait: b.hpp:2" in said) == bool(code)


@pytest.mark.parametrize("outcome, code", [(Outcome.KILLED, 0), (Outcome.TIMED_OUT, 0), (Outcome.SURVIVED, 1), (Outcome.NOT_COMPILED, 1)])
def test_an_exception_allows_one_outcome(outcome, code):
    exceptions = {"no deadline: a.hpp": (Outcome.TIMED_OUT, "it takes the bound away")}
    assert mutants.report({"no deadline: a.hpp:1": Result(outcome)}, exceptions) == code
