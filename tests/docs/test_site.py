"""The site builds without a warning, its links lead somewhere, and it needs no network."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc, isclass, isfunction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from api_pages import PACKAGES, names_of
from site_hook import linked, site_path
from site_links import PageLinks, broken, is_elsewhere, pages_of

import quadrat

if TYPE_CHECKING:
    from tests.browser import Browser

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = [(package, name) for packages in PACKAGES.values() for package in packages for name in names_of(package)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built once; it fails where mkdocs has any complaint."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "WARNING" not in ran.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageLinks]:
    return pages_of(site)


def test_every_page_is_there(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page
    assert not list(site.rglob("*.py"))


def test_links_images_and_anchors_lead_somewhere(site: Path, pages: dict[Path, PageLinks]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert not broken(site, pages)


def test_nothing_is_fetched_from_the_network(site: Path, pages: dict[Path, PageLinks]) -> None:
    """Pages may link elsewhere; what a browser loads by itself is in the site."""
    assert not [(path, one) for path, page in pages.items() for one in page.fetched if is_elsewhere(one)]
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text()
        assert "@import" not in style.read_text()


def test_every_public_name_is_documented_exactly_once(site: Path, pages: dict[Path, PageLinks]) -> None:
    ids = Counter(one for path, page in pages.items() if path.parent.name == "api" for one in page.ids)
    wanted = [f"quadrat.{package}.{name}" for package, name in PUBLIC]
    wanted += [f"quadrat.errors.{name}" for name in quadrat.__all__ if name in import_module("quadrat.errors").__all__]
    assert {name: ids[name] for name in wanted} == dict.fromkeys(wanted, 1)


def test_every_name_of_the_package_is_linked_from_its_page(site: Path, pages: dict[Path, PageLinks]) -> None:
    index = pages[site / "api" / "index.html"]
    shown = {one.rpartition(".")[2] for one in (*index.links, *index.ids)}
    assert set(quadrat.__all__) <= shown


def test_every_package_with_public_names_has_a_page() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "quadrat").glob("*/__init__.py")}
    listed = {package for packages in PACKAGES.values() for package in packages}
    assert packages - {"cli", "_core"} | {"research"} == listed


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_public_names_have_docstrings(package: str, name: str) -> None:
    """Of classes and functions their own, not one that is inherited; of constants a text below them in the source."""
    value = getattr(import_module(f"quadrat.{package}"), name)
    if isclass(value):
        assert value.__doc__
        assert value.__doc__ not in [base.__doc__ for base in value.__mro__[1:]]
    elif isfunction(value):
        assert getdoc(value)
    else:
        assert name in set(_constants_with_text(ROOT / "src" / "quadrat" / package))


def _constants_with_text(package: Path) -> Iterator[str]:
    """The names that are assigned in the modules of a package with a string right below."""
    for path in package.glob("*.py"):
        body = ast.parse(path.read_text()).body
        for node, below in pairwise(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_files_outside_docs_become_part_of_the_site() -> None:
    links = "[a](../README.md#x) [b](paper.md) [c](https://x.org/y.md) [d](../tests) ![e](figures/band.svg)"
    figure = "![f](../benchmarks/results/scaling.svg) [g](charts.py)"
    fenced = "\n```text\n[h](../LICENSE)\n```\n"
    found = linked("docs/errata.md", links + figure + fenced)
    assert found == {"README.md", "tests", "benchmarks/results/scaling.svg", "docs/charts.py"}
    assert site_path("docs/charts.py") == "repository/docs/charts.py.md"
    assert site_path("docs/paper.md") == "paper.md"
    assert site_path("README.md") == "repository/README.md"
    assert site_path("tests/browser.py") == "repository/tests/browser.py.md"
    assert site_path("tests") == "repository/tests/index.md"


def test_the_link_check_notices_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#here">b</a> <a href="#top">t</a>')
    (tmp_path / "b.html").write_text('<p id="here"><a href="a.html#gone">a</a><img src="no.svg"><a href="c.html">c</a>')
    assert broken(tmp_path, pages_of(tmp_path)) == ["b.html: a.html#gone", "b.html: c.html", "b.html: no.svg"]


def test_the_search_works_on_files(site: Path, browser: Browser) -> None:
    """A site that is opened from a folder, without a server: search finds pages, and nothing is asked of a network."""
    with browser.page((site / "index.html").as_uri()) as page:
        page.run("document.querySelector('.md-search__input').focus()")
        for letter in "certificate":
            page.press(letter)
        page.wait("document.querySelectorAll('.md-search-result__item').length > 3")
        assert page.errors() == []
        assert all(url.startswith("file:") for url in page.requests())
