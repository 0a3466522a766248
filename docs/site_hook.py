"""What mkdocs needs to know of this repository: files outside docs/ that pages link to, and the pages of the API.

Pages may link to any file of the repository. Linked files become part of the site: Markdown files as pages, source
files as pages that show them, folders as lists, everything else as it is. Links of those pages are followed in turn.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent))

from api_pages import api_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SHELF = "repository"  # the folder of the site with what is outside docs/
SOURCES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".sh": "sh", ".txt": "text", "": "text"}

_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2`* *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\(<?)([^)\s>#]+)(#[^)\s>]*)?(?=>?[)\s])")
_OUTSIDE = re.compile(r"^([a-z][a-z+.-]*:|//|/)", re.IGNORECASE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that an entry with a star matches into its place."""
    pages = sorted([path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")])
    pages += list(api_pages())
    nav: list[Any] = config.nav or []
    config.nav = _expanded(nav, sorted(set(pages) - set(_named(nav)), key=_index_first))
    return config


def _index_first(name: str) -> tuple[str, bool, str]:
    path = PurePosixPath(name)
    return str(path.parent), path.name != "index.md", path.name


def _named(entry: Any) -> Iterable[str]:
    """The pages that an entry of the navigation names."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [name for part in parts for name in _named(part)]


def _expanded(entries: list[Any], pages: list[str]) -> list[Any]:
    result: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            if isinstance(inside, str) and "*" in inside:
                inside = [inside]
            if isinstance(inside, list):
                inside = _expanded(inside, pages)
            if inside:
                result.append({title: inside})
        elif "*" in entry:
            result += [page for page in pages if fnmatch(page, entry)]
        else:
            result.append(entry)
    return result


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the API, and all that pages link to outside docs/."""
    for name, text in api_pages().items():
        files.append(File.generated(config, name, content=text))
    waiting = [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in sorted(DOCS.rglob("*.md"))]
    added: set[str] = set()
    while waiting:
        name, text = waiting.pop()
        for target in sorted(linked(name, text) - added):
            added.add(target)
            file, content = _file_of(target, config)
            files.append(file)
            if content is not None:
                waiting.append((target, content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files outside docs/ lead to where those are in the site, and links back to where the pages are."""
    uri = page.file.src_uri
    if uri.startswith("api/"):
        return markdown
    return _with_links(markdown, _source_of(uri), uri)


def linked(name: str, text: str) -> set[str]:
    """The files outside docs/ that a file of the repository links to, by their paths from its root."""
    found = (_target(name, match.group(2)) for match in _LINK.finditer(_FENCED.sub("", text)))
    return {target for target in found if target is not None and not _is_of_the_site(target)}


def _is_of_the_site(target: str) -> bool:
    """Whether mkdocs takes a file without being told: what is in docs/, but for scripts."""
    return target.startswith("docs/") and not target.endswith(".py")


def _target(name: str, link: str) -> str | None:
    """The path from the repository's root of what a link in a file leads to; None where that is no file in it."""
    if _OUTSIDE.match(link):
        return None
    path = (ROOT / name).parent.joinpath(link).resolve()
    return path.relative_to(ROOT).as_posix() if path.exists() and path.is_relative_to(ROOT) else None


def site_path(target: str) -> str:
    """Where in the site a file of the repository is, as a source that mkdocs knows."""
    if _is_of_the_site(target):
        return target.removeprefix("docs/")
    path = PurePosixPath(target)
    if (ROOT / target).is_dir():
        return f"{SHELF}/{target}/index.md"
    if path.suffix != ".md" and path.suffix in SOURCES:
        return f"{SHELF}/{target}.md"
    return f"{SHELF}/{target}"


def _source_of(uri: str) -> str:
    """The file of the repository whose links a page of the site has."""
    if not uri.startswith(f"{SHELF}/"):
        return f"docs/{uri}"
    inside = uri.removeprefix(f"{SHELF}/")
    if (ROOT / inside).is_file():
        return inside
    return inside if inside.endswith("/index.md") else inside.removesuffix(".md")


def _file_of(target: str, config: MkDocsConfig) -> tuple[File, str | None]:
    """The file of the site for one of the repository; and its text, where that has links of its own."""
    path, uri = ROOT / target, site_path(target)
    hidden = InclusionLevel.NOT_IN_NAV
    if path.suffix == ".md":
        return File.generated(config, uri, abs_src_path=str(path), inclusion=hidden), path.read_text()
    if path.is_dir():
        inside = [one for one in sorted(path.iterdir()) if not one.name.startswith((".", "__"))]
        text = f"# `{target}`\n\n" + "\n".join(f"- [`{one.name}`]({one.name})" for one in inside)
        file = File.generated(config, uri, content=_unsearched(text), inclusion=hidden)
        return file, text.replace("](", f"]({path.name}/")  # seen from the folder's own place
    if path.suffix in SOURCES:
        text = f"# `{target}`\n\n``````{SOURCES[path.suffix]}\n{path.read_text()}\n``````\n"
        return File.generated(config, uri, content=_unsearched(text), inclusion=hidden), None
    return File.generated(config, uri, abs_src_path=str(path), inclusion=hidden), None


def _unsearched(text: str) -> str:
    return f"---\nsearch:\n  exclude: true\n---\n\n{text}"


def _with_links(markdown: str, source: str, uri: str) -> str:
    """The text of a page with its links as they must be in the site."""
    folder = str(PurePosixPath(uri).parent)

    def changed(match: re.Match[str]) -> str:
        target = _target(source, match.group(2))
        if target is None:
            return match.group(0)
        return match.group(1) + relpath(site_path(target), folder) + (match.group(3) or "")

    pieces: list[str] = []
    position = 0
    for block in _FENCED.finditer(markdown):
        pieces += [_LINK.sub(changed, markdown[position : block.start()]), block.group(0)]
        position = block.end()
    return "".join([*pieces, _LINK.sub(changed, markdown[position:])])
