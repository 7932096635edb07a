#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws comments and sentences of documents at random, for readers who have not seen the code: do they understand each at once?

Prints numbered comments of src/ and cli/, each with its file, the struct or class that it is in, and the lines of code
behind it. A comment at the end of a line is shown with that line. A block of comment lines is one comment: a kernel's table
is shown whole. Prints numbered sentences of the documents, each with its file, its heading and the sentence before it. The
same seed gives the same sample of the same tree.

Usage: sample_words.py SEED [--comments 60] [--sentences 30]
"""
import argparse
import random
import re
from pathlib import Path

from check_words import CODE, paragraphs, tracked

LINES_OF_CODE = 3
SHORTEST = 4  # words; shorter texts are names and units
GENERATED = {"mdp.md", "features.md", "options.md", "gromacs-flags.md"}
OWN_LINE = re.compile(r"(\s*)//+ ?(.*)")
BEHIND_CODE = re.compile(r"(?:[;{},)]|\*/)(\s+)// +(.+)$")
NOT_A_TEXT = ("SPDX", "clang-format", "NOLINT")
NOT_AN_OWNER = ("//", "#", "public:", "private:", "protected:")


def column(line):
    return line.index("//")


def is_text(own_line):
    return own_line and own_line[2].strip() and not own_line[2].startswith(NOT_A_TEXT)


def blocks(lines):
    """(first line, end line, text) of each comment, counted from 0: a run of // lines, or one behind code with its further lines."""
    number = 0
    while number < len(lines):
        first, number = number, number + 1
        own, behind = OWN_LINE.match(lines[first]), BEHIND_CODE.search(lines[first])
        if is_text(own):
            texts = [own[2]]
            while number < len(lines) and is_text(own := OWN_LINE.match(lines[number])):
                texts.append(own[2])
                number += 1
            yield first, number, "\n".join(texts)
        elif behind and not own:
            texts = [behind[2]]
            while number < len(lines) and OWN_LINE.match(lines[number]) and column(lines[number]) == lines[first].rindex("// "):
                texts.append(OWN_LINE.match(lines[number])[2])
                number += 1
            yield first, number, " ".join(texts)


def enclosing(lines, number):
    """The struct, class, union or enum around a line, by indentation; "" if there is none."""
    depth = len(lines[number]) - len(lines[number].lstrip())
    for line in reversed(lines[:number]):
        indent = len(line) - len(line.lstrip())
        if line.strip() in {"", "{"} or indent >= depth or line.lstrip().startswith(NOT_AN_OWNER):
            continue
        depth = indent
        if found := re.match(r"\s*((?:struct|class|union|enum class|enum) (?:\[\[\w+\]\] |alignas\(\w+\) )?\w+)", line):
            return found[1]
    return ""


def drawn_comments(root):
    for path in tracked(root):
        place = path.relative_to(root)
        if path.suffix not in CODE or place.parts[0] not in {"src", "cli"}:
            continue
        lines = path.read_text(errors="replace").splitlines()
        for first, end, comment in blocks(lines):
            if len(comment.split()) < SHORTEST:
                continue
            is_behind = not lines[first].lstrip().startswith("//")
            owner = enclosing(lines, first)
            code = lines[first:max(end, first + 1)] if is_behind else lines[end:end + LINES_OF_CODE]
            yield "\n".join([f"{place}:{first + 1}" + (f" in {owner}" if owner else ""), comment,
                             "-- at the end of this line:" if is_behind else "-- code:", *code])


def headings(lines):
    """For each line of a document the heading above it."""
    found, latest, is_code = [], "", False
    for line in lines:
        is_code ^= line.lstrip().startswith("```")
        latest = line if line.startswith("#") and not is_code else latest
        found.append(latest)
    return found


def drawn_sentences(root):
    for path in tracked(root):
        place = path.relative_to(root)
        if path.suffix != ".md" or place.name in GENERATED or place.parts[:2] == ("tests", "README.md") or "log" in place.name:
            continue
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        before, last_heading, titles = "", "", headings(lines)
        for number, paragraph in paragraphs(text):
            if lines[number - 1].lstrip().startswith("|"):  # a cell is read with its column's head
                continue
            if (title := titles[number - 1]) != last_heading:
                before, last_heading = "", title
            for sentence in paragraph.replace("! ", "!\n").replace("? ", "?\n").replace(". ", ".\n").split("\n"):
                if len(sentence.split()) >= SHORTEST:
                    yield "\n".join([f"{place}:{number}", title, *([f"(before: {before})"] if before else []), sentence])
                before = sentence


def show(title, texts, count, seed):
    print(f"== {title}")
    for number, text in enumerate(random.Random(seed).sample(list(texts), count), 1):
        print(f"\n[{number}] {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--comments", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=30)
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    show("comments", drawn_comments(root), options.comments, options.seed)
    show("sentences", drawn_sentences(root), options.sentences, options.seed)


if __name__ == "__main__":
    main()
