"""What the pages of a built site refer to, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["PageLinks", "broken", "pages_of"]

_REFERRING = {"href", "src", "data", "poster", "action", "srcset"}


@dataclass
class PageLinks(HTMLParser):
    """The identifiers of a page, its links, and everything else that a browser would fetch."""

    path: Path
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name in _REFERRING and value is not None:
                (self.links if tag == "a" else self.fetched).append(value)


def pages_of(site: Path) -> dict[Path, PageLinks]:
    """All pages of a site."""
    return {path: PageLinks(path) for path in sorted(site.rglob("*.html"))}


def is_elsewhere(link: str) -> bool:
    """Whether a link leads out of the site."""
    parts = urlsplit(link)
    return bool(parts.scheme or parts.netloc)


def broken(site: Path, pages: dict[Path, PageLinks]) -> list[str]:
    """The links inside the site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in (*page.links, *page.fetched):
            parts = urlsplit(link)
            if is_elsewhere(link) or link == "":
                continue
            target = path
            if parts.path:
                name = unquote(parts.path)
                target = (site / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve()
                target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            exists = target.is_file() and target.is_relative_to(site)
            if not exists or (anchor and target in pages and anchor not in pages[target].ids):
                found.append(f"{path.relative_to(site)}: {link}")
    return found
