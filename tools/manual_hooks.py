# SPDX-License-Identifier: Apache-2.0
"""Makes a site of the repository's documents; mkdocs calls the functions on_... (mkdocs.yml).

  - documents at the root that the site has as pages are named in ROOT_PAGES;
  - a link is that of the repository: one to a page of the site leads there, one to another file becomes the file's name, as readers of
    the site need not have the repository; one to nothing is left to mkdocs, which complains;
  - a list may follow a line of text, as everywhere but in Python's Markdown;
  - the site asks no network for anything: a page that would load something from elsewhere is an error.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
ROOT_PAGES = {name: f"developer/{name.lower()}" for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md")}
ROOT_PAGES["README.md"] = "index.md"  # whose first page is another, of the same content
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+?)(?: "([^"]*)")?\)')
LOADED = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


def source_of(page):
    """The path in the repository of a page of the site."""
    return next((name for name, uri in ROOT_PAGES.items() if uri == page and name != "README.md"), f"docs/{page}")


def page_of(path):
    """The page of the site that a file of the repository is, if it is one."""
    return ROOT_PAGES.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)


def link_on_site(match, page, pages):
    image, text, target, title = match.groups()
    if re.match(r"[a-z]+:|#", target):
        return match[0]
    path, mark, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), path))
    uri = page_of(path)
    if uri in pages:
        return f"{image}[{text}]({posixpath.relpath(uri, posixpath.dirname(page) or '.')}{mark}{anchor})"
    if not image and (ROOT / path).exists():
        return text if path in text else f'<span title="{path}{": " + title if title else ""}">{text}</span>'
    return match[0]


def outside_code(text, change):
    """The text with what is no block of code changed."""
    parts = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def with_gaps_before_lists(text):
    lines, before = [], ""
    for line in text.split("\n"):
        if re.match(r"([-*]|\d+\.) ", line) and before.strip() and not re.match(r"([-*]|\d+\.) |\s", before):
            lines.append("")
        lines.append(line)
        before = line
    return "\n".join(lines)


def on_files(files, config):
    for name, uri in ROOT_PAGES.items():
        if name != "README.md":
            files.append(File.generated(config, uri, content=(ROOT / name).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    pages = {file.src_uri for file in files}

    def on_site(part):
        return with_gaps_before_lists(LINK.sub(lambda match: link_on_site(match, page.file.src_uri, pages), part))

    return outside_code(markdown, on_site)


def on_post_page(output, page, config):
    for loaded in LOADED.findall(output):
        if 'rel="canonical"' not in loaded:
            raise PluginError(f"{page.file.src_uri} would load something from a network: {loaded}")
    return output
