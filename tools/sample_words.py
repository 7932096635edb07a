#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws comments and sentences of documents at random, for readers who have not seen the code: do they understand each at once?

Prints numbered comments of src/ and cli/, each with its file and the lines of code behind it, and numbered sentences of the
documents, each with its file and heading. The same seed gives the same sample of the same tree.

Usage: sample_words.py SEED [--comments 60] [--sentences 30]
"""
import argparse
import random
from pathlib import Path

from check_words import CODE, comments, paragraphs, tracked

LINES_OF_CODE = 3
SHORTEST = 4  # words; shorter texts are names and units
GENERATED = {"mdp.md", "features.md", "options.md", "gromacs-flags.md"}


def drawn_comments(root):
    for path in tracked(root):
        place = path.relative_to(root)
        if path.suffix not in CODE or place.parts[0] not in {"src", "cli"}:
            continue
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        for number, comment in comments(text):
            if len(comment.split()) < SHORTEST:
                continue
            first = number - 1
            while first < len(lines) and lines[first].lstrip().startswith("//"):
                first += 1
            code = "\n".join(line for line in lines[first:first + LINES_OF_CODE])
            yield f"{place}:{number}\n{comment}\n-- code:\n{code}"


def heading(text, number):
    return next((line for line in reversed(text.splitlines()[:number]) if line.startswith("#")), "")


def drawn_sentences(root):
    for path in tracked(root):
        place = path.relative_to(root)
        if path.suffix != ".md" or place.name in GENERATED or place.parts[:2] == ("tests", "README.md") or "log" in place.name:
            continue
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        for number, paragraph in paragraphs(text):
            if lines[number - 1].lstrip().startswith("|"):  # a cell is read with its column's head
                continue
            for sentence in paragraph.replace("! ", "!\n").replace("? ", "?\n").replace(". ", ".\n").split("\n"):
                if len(sentence.split()) >= SHORTEST:
                    yield f"{place}:{number}\n{heading(text, number)}\n{sentence}"


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
