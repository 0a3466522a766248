"""The report in a real browser: what it says, that it is drawn, that it fits, and that nothing else runs in it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import pytest

import quadrat as qd
from quadrat._core.printing import at_most, between
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop import Result
from quadrat.optimizer.trial import number_text
from quadrat.report import report_html

if TYPE_CHECKING:
    from tests.browser import Browser, Page

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'quadrat[plots]'")

DRAWN = "document.documentElement.dataset.drawn === 'all'"
LOOKS = [(1280, 800, False), (1280, 800, True), (390, 844, False), (360, 740, True)]
MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def fitted_page(fitted_run: Result) -> str:
    return report_html(fitted_run)


def written(text: str, folder: Path) -> str:
    """The address of a page that is written to a file."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def text_of(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)}).textContent"))


def cells_of(page: Page, selector: str) -> list[list[str]]:
    """The cells of the body of a table, row by row."""
    rows = f"[...document.querySelectorAll({json.dumps(selector + ' tbody tr')})]"
    found: list[list[str]] = page.run(f"{rows}.map(row => [...row.children].map(cell => cell.textContent))")
    return found


def shown(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def overlaps(page: Page) -> list[str]:
    """Which boxes of the first screen lie on each other."""
    found: list[str] = page.run(
        """(() => {
            const boxes = [...document.querySelectorAll("header, .next, .first > .card")]
                .map(box => [box.className, box.getBoundingClientRect()]);
            return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) =>
                Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 &&
                Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1).map(([b]) => a + " on " + b));
        })()"""
    )
    return found


def spilled(page: Page) -> list[str]:
    """What is wider than its card on the first screen."""
    found: list[str] = page.run(
        """[...document.querySelectorAll(".next *, .first > .card *, header *")]
            .filter(one => !one.closest(".settings") && !one.closest("pre")
                && one.getBoundingClientRect().right > innerWidth + 0.5)
            .map(one => one.outerHTML.slice(0, 80))"""
    )
    return found


def test_a_fitted_run_says_what_its_result_says(
    fitted_run: Result, fitted_page: str, browser: Browser, tmp_path: Path
) -> None:
    with browser.page(written(fitted_page, tmp_path)) as page:
        rows = {name: (use, seen) for name, use, seen in cells_of(page, "#recommended")}
        assert rows == {
            name: (shown(value), shown(fitted_run.best_seen.params[name])) for name, value in fitted_run.params.items()
        }
        assert json.loads(text_of(page, "#recommended-json")) == fitted_run.params
        assert text_of(page, "#value") == number_text(fitted_run.value)
        assert fitted_run.credible_interval is not None
        low, high = map(number_text, fitted_run.credible_interval)
        assert f"90 % credible: {low} to {high}." in text_of(page, ".card.value .said")
        assert fitted_run.estimated_gain is not None
        assert fitted_run.estimated_gain_upper is not None
        assert text_of(page, "#remaining") == number_text(fitted_run.estimated_gain)
        assert number_text(fitted_run.estimated_gain_upper) in text_of(page, ".card.remaining .said")
        assert text_of(page, "#best") == number_text(fitted_run.best_seen.value)
        assert text_of(page, ".card.best .said") == fitted_run.why
        assert "14 trials: 13 complete, 1 failed" in text_of(page, ".about")
        assert "certified" in text_of(page, "footer")

        # Everything is drawn, in all sizes and colours, without asking for anything and without complaints.
        page.wait(DRAWN)
        figures = page.run("document.querySelectorAll('.plot').length")
        assert figures == 6
        assert page.run("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg.main-svg'))")
        for width, height, dark in LOOKS:
            page.look(width, height, dark=dark)
            page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
            assert page.run("document.documentElement.scrollWidth") <= width, f"scrolls sideways at {width}"
            assert overlaps(page) == []
            assert spilled(page) == []
            if width > 1000:
                assert page.run("document.querySelector('.first').getBoundingClientRect().bottom") <= height
        paper = page.run("getComputedStyle(document.body).backgroundColor")
        page.look(1280, 800, dark=False)
        assert page.run("getComputedStyle(document.body).backgroundColor") != paper
        assert page.errors() == []
        assert len(page.requests()) == 1

        # Names that are scripts are text.
        assert page.dialogs() == []
        assert page.run("document.querySelectorAll('img').length") == 0
        assert page.run("[...document.scripts].filter(one => one.textContent === 'alert(1)').length") == 0


def test_the_table_is_used_with_a_keyboard(
    fitted_run: Result, fitted_page: str, browser: Browser, tmp_path: Path
) -> None:
    with browser.page(written(fitted_page, tmp_path)) as page:
        page.wait(DRAWN)
        reached = []
        for _ in range(60):
            page.press("Tab")
            reached.append(page.run("document.activeElement.id || document.activeElement.textContent.slice(0, 20)"))
            if reached[-1] == "value":
                break
        assert reached[0] == "Skip to the result"
        assert {"Copy as JSON", "trials-filter", "trials-state", "trial", "state", "value"} <= set(reached)
        outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"

        page.press("Enter")  # on the heading of values
        assert page.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
        values = [row[2] for row in cells_of(page, "#trials")]
        assert values[-1] == ""
        assert [float(value) for value in values[:-1]] == sorted(
            float(number_text(record.value)) for record in fitted_run.trials if record.value is not None
        )
        page.press("Enter")
        assert cells_of(page, "#trials")[0][2] == values[-2]

        page.run("document.getElementById('trials-filter').focus()")
        for letter in "failed":
            page.press(letter)
        page.wait("document.querySelectorAll('#trials tbody tr').length === 1")
        assert "onerror" in cells_of(page, "#trials")[0][-1]
        assert page.dialogs() == []

        headings = page.run("[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))")
        assert headings[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(headings))
        assert page.run("document.documentElement.lang") == "en"
        assert page.run("['main', 'header', 'footer'].every(one => document.querySelectorAll(one).length === 1)")
        assert page.run("[...document.querySelectorAll('th')].every(one => one.scope)")
        assert page.run("[...document.querySelectorAll('.plot')].every(one => one.ariaLabel.length > 40)")
        assert page.errors() == []


def test_a_certified_run_is_called_certified(certified_run: Result, browser: Browser, tmp_path: Path) -> None:
    with browser.page(written(report_html(certified_run), tmp_path), width=390, height=844, dark=True) as page:
        assert certified_run.certificate is not None
        assert certified_run.certified_interval is not None
        assert text_of(page, "#remaining") == f"≤ {at_most(certified_run.certificate)}"
        assert f"Certified: {between(certified_run.certified_interval)}. Holds with probability 95 %" in text_of(
            page, ".card.value .said"
        )
        assert "credible" not in text_of(page, ".first")
        page.wait(DRAWN)
        assert page.run("document.getElementById('figure-cells') !== null")
        assert page.run("document.documentElement.scrollWidth") <= 390
        assert page.errors() == []


def test_thousands_of_trials_fit_and_are_paged(long_run: qd.Optimizer, browser: Browser, tmp_path: Path) -> None:
    text = report_html(long_run)  # benchmarks/report_page.py measures how long that takes
    assert len(text.encode()) <= MOST_BYTES
    assert re.search(r"Of [\d,]+ points [\d,]+ are drawn", text)
    with browser.page(written(text, tmp_path)) as page:
        assert text_of(page, "#trials-place") == "1 to 50 of 5,000"
        assert len(cells_of(page, "#trials")) == 50
        page.run("document.getElementById('trials-after').click()")
        assert text_of(page, "#trials-place") == "51 to 100 of 5,000"
        page.run("document.getElementById('trials-state').value = 'failed'")
        page.run("document.getElementById('trials-state').dispatchEvent(new Event('change'))")
        assert text_of(page, "#trials-place") == "1 to 50 of 100"
        page.wait(DRAWN)
        assert page.errors() == []


def test_nothing_of_a_report_comes_from_elsewhere(fitted_page: str) -> None:
    text = fitted_page
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # what is left is ours and the user's
    assert text.count("<script>") == 2, "plotly once, and the page's own"
    assert not re.search(r"<(link|img|iframe|base)\b", own)
    assert not re.search(r"(src|href)=\"(?!#)", own)
    assert "default-src 'none'" in own.replace("&#x27;", "'")


def test_a_study_is_reported_with_commands(tmp_path: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(study_name="bowl & <co>", sampler=optuna.samplers.RandomSampler(seed=0))
        study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=8)
        study.ask()
        text = report_html(study, where="--study bowl")
        with pytest.raises(NotAvailable, match="complete trial"):
            report_html(optuna.create_study())
        with pytest.raises(InvalidInput, match="one objective"):
            report_html(optuna.create_study(directions=["minimize", "maximize"]))
    finally:
        optuna.logging.set_verbosity(optuna.logging.INFO)
    assert "<h1>bowl &amp; &lt;co&gt;</h1>" in text
    assert "minimize · 9 trials: 8 complete, 1 running" in text
    assert "quadrat best --study bowl --json" in text
    assert "run by another sampler" in text


def test_without_a_complete_trial_there_is_no_report() -> None:
    with pytest.raises(NotAvailable, match="expected at least one complete trial"):
        report_html(qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize"))
