#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the words of comments and documents, for a reader who sees them for the first time:

  - a comment of a header that begins with What, Of, Where, Who or So much has a verb of its own ("What a run tells." has none);
  - files and names that a comment or a document mentions exist: paths, links, and in documents names in backticks;
  - no sentence has more than 40 words.

Prints each finding with its place; exit code 1 if there is any. It knows verbs by a list and by their ending, so it errs at times:
then say it in other words.

Usage: check_words.py [repository root] [path ...]     without paths: all files that git tracks
"""
import re
import subprocess
import sys
from pathlib import Path

LONGEST = 40  # words
CODE = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".c"}
HEADERS = {".hpp", ".cuh", ".h"}
KNOWN_ENDINGS = "hpp|cpp|cuh|cu|md|py|toml|sh|txt|cmake|svg|png|jsonl|json|h|c"
# Files that users, other programs and examples have.
ELSEWHERE = re.compile(r"^(md|npt|nvt|em|conf|topol|scaling|file|wide|mdout|index|traj|nowhere|mine|posre|t)\b|PREFIX|NAME|FILE|<|\*|^[/~$]|"
                       r"^build|^[._]|://|^[\w-]+/?\.\.\.|nvshmem|cuda|^sched_|^json\.py$|^manifest\.json$|^room/|^CapWords$|^snake_case$|^mpi\.h|^shmem\.h|^hwy/|^CLI/|nlohmann|gromacs|\{")
# Verbs whose form is no plural of a noun here; others end in -s like many nouns.
VERBS = set("""is are was were be has have had does do did can cannot could may might must shall should will would need needs
takes gives goes comes makes holds keeps says tells knows lies sees throws returns becomes begins ends stays stands gets lets
belongs depends follows happens means costs counts applies fits stops starts writes reads waits runs moves acts adds differs
exists includes needs uses finds leaves meets passes puts sends serves shows brings arrives reaches receives allows answers asks
take give go come make hold keep say tell know lie see throw return become begin stay stand get let belong depend follow happen
mean apply fit exist include find leave meet pass put send serve show bring arrive reach receive allow went came took made held
kept said told lost found left met sent brought reached ended began stopped started ran agree agrees remain remains fail fails
decide decides contain contains read write written describe describes sets set carries carry computes compute replaces replace
works chooses choose turns turn grows grow matches match covers cover defines define refuses refuse ignores ignore wins win
appears appear ranges points names owns own occurs occur learn learns speaks speak consists consist prints print""".split())
CLAUSES = set("what where who whose which that while if when until unless because since how why whether".split())
SUBORDINATE = {"What": 1, "Who": 1, "Where": 1, "Of": 0, "So much": 0, "So many": 0}  # verbs that the opening takes for itself


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [root / name for name in listed.stdout.splitlines() if (root / name).is_file()]
    return [path for path in sorted(root.rglob("*")) if path.is_file()]


def comments(text):
    """(line, text) of each run of // lines, of each row of a table in them, and of each comment behind code."""
    found, begin, block = [], 0, []

    def close():
        if block:
            found.append((begin, " ".join(block)))
        block.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*//.*[^\s.!?:;/] {2,}\S", line):  # a row of a table, or the begin of one
            close()
        own = re.match(r"\s*//+ ?(.*)", line)
        if own and own[1].strip() and not own[1].startswith(("SPDX", "clang-format", "NOLINT")):
            if not block:
                begin = number
            block.append(own[1].strip())
            continue
        close()
        behind = re.search(r'(?:[;{},)]|\*/)\s+//+ (.+)$', line)
        if behind and not own:
            found.append((number, behind[1].strip()))
    close()
    return found


def paragraphs(text):
    """(line, text) of each paragraph, list item and cell of a document, without code blocks."""
    found, begin, block, is_code = [], 0, [], False

    def close():
        if block:
            found.append((begin, " ".join(block)))
        block.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            close()
        elif is_code or line.startswith("    ") and not block:
            continue
        elif line.lstrip().startswith("|"):
            close()
            found += [(number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line) if cell.strip()]
        elif not line.strip() or line.startswith(("#", "<")):
            close()
        else:
            if re.match(r"\s*([-*]|\d+\.) ", line):
                close()
            if not block:
                begin = number
            block.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())
    close()
    return found


def sentences(text):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "x", text)
    text = re.sub(r"\b(e\.g|i\.e|et al|Eq|Fig|vs|cf|No)\.", r"\1", text)
    return re.split(r"(?<=[.!?:;])[)\"']*\s+", text)


def words(sentence):
    return re.findall(r"[A-Za-z][\w'-]*", sentence)


def opening_without_verb(text):
    """The word that a comment begins with, if its first sentence has no verb of its own; else None."""
    first = re.split(r"(?<=[.!?:;])\s+", text)[0]
    opening = next((word for word in SUBORDINATE if re.match(rf"{word}\b", first)), None)
    if opening is None or first.endswith("?"):
        return None
    spoken = [word.lower() for word in re.findall(r"[A-Za-z]+", first.removeprefix(opening))]
    verbs = sum(word in VERBS for word in spoken)
    clauses = sum(word in CLAUSES for word in spoken)  # each has a verb
    return opening if verbs <= SUBORDINATE[opening] + clauses else None


class Names:
    """What there is in a repository: files, by path and by the end of it, and words of its sources."""

    def __init__(self, root, files):
        self.root = root
        self.files = {str(path.relative_to(root)) for path in files}
        self.folders = {str(parent) for file in self.files for parent in Path(file).parents}
        self.last = {Path(file).name for file in self.files}
        self.words = set()
        for path in files:
            if path.suffix in CODE | {".py", ".toml", ".txt", ".cmake", ".sh", ".in", ".mdp", ".top"} or path.suffix == "":
                if path.stat().st_size < 1_000_000:
                    self.words |= set(re.findall(r"\w+", path.read_text(errors="replace")))

    def has_path(self, name, near):
        name = re.sub(r"(:\d+|#.*)$", "", name).rstrip("/")
        if not name or name in self.last:
            return True
        places = ["", "src/", "tests/", "docs/", str(near.relative_to(self.root)) + "/"]
        for place in places:
            path = re.sub(r"^\./", "", str(Path(place + name)))
            parts = []
            for part in path.split("/"):
                if part == ".." and parts:
                    parts.pop()
                else:
                    parts.append(part)
            path = "/".join(parts)
            if path in self.files or path in self.folders:
                return True
        return any(file.endswith("/" + name) or f"/{name}/" in file for file in self.files)


def mentioned_paths(text):
    """What looks like a file or a folder of this repository."""
    ending = rf"[\w./-]+\.(?:{KNOWN_ENDINGS})\b(?!\.?\w)"
    folder = r"\b(?:src|tests|docs|bench|tools|cli|examples|python|fuzz|cmake)/[\w./-]*\w(?![\w./-]*[*<])"
    return [m[0].rstrip(".") for m in re.finditer(rf"(?<![\w/<$.-])(?:{ending}|{folder})", text)]


def dead_references(text, near, names, is_document):
    dead = []
    for path in mentioned_paths(text):
        if not ELSEWHERE.search(path) and not names.has_path(path, near):
            dead.append(path)
    for number in re.findall(r"\bdecisions? (\d{4})\b", text):
        if not any(file.startswith(f"docs/decisions/{number}-") for file in names.files):
            dead.append(f"decision {number}")
    if not is_document:
        return dead
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not ELSEWHERE.search(link) and not link.startswith("#") and not names.has_path(link, near):
            dead.append(link)
    for name in re.findall(r"`([A-Za-z_][\w:]*(?:\(\))?)`", text):
        is_own = name.endswith("()") or re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z0-9]+)+", name)
        parts = [part for part in re.split(r"\W+", name) if part]
        if is_own and not ELSEWHERE.search(name) and not all(part in names.words for part in parts):
            dead.append(name)
    return dead


def findings(path, names):
    """(line, what is wrong) of one file."""
    text = path.read_text(errors="replace")
    is_document = path.suffix == ".md"
    is_log = path.name in {"log.md", "CHANGELOG.md"}  # of what was once so
    for line, block in paragraphs(text) if is_document else comments(text):
        if path.suffix in HEADERS and (opening := opening_without_verb(block)):
            yield line, f"begins with {opening} and has no verb of its own: {block[:60]}"
        for name in [] if is_log else dict.fromkeys(dead_references(block, path.parent, names, is_document)):
            yield line, f"{name} does not exist"
        for sentence in sentences(block):
            if (count := len(words(sentence))) > LONGEST:
                yield line, f"a sentence of {count} words: {sentence[:60]}"


def main(root, only):
    files = tracked(root)
    names = Names(root, files)
    wrong = 0
    for path in [root / name for name in only] or files:
        if path.suffix not in CODE | {".md"}:
            continue
        for line, what in findings(path, names):
            print(f"{path.relative_to(root)}:{line}: {what}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    sys.exit(main(here, sys.argv[2:]))
