"""docs/blocks.py: what runs, what is compared, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import BadPage, blocks_of, is_executable, main, matches, merged, run_page, steps_of

PAGE = """# A page

```python
# file: half.py
def half(x):
    return x / 2
```

```json
# file: data/number.json
{"number": 7}
```

```python
import json
from pathlib import Path

from half import half

number = json.loads(Path("data/number.json").read_text())["number"]
```

Text between.

```python
print(half(number))
print("again")
```

```text
3.5
again
```

Nothing ran before this one:

```text
as it is
```

1.  In a list:

    ```console
    $ cat data/number.json
    {"number": 7}
    $ python -c "import half; \\
    print(half.half(1))" && echo $COLUMNS
    0.5
    100
    $ echo wrong >&2; exit 3
    wrong
    ```
"""


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text)
    return path


def test_a_page_runs_in_one_namespace_and_one_folder(tmp_path: Path) -> None:
    outcome = run_page(page(tmp_path, PAGE))
    assert outcome.complaints == []
    assert outcome.text == PAGE
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]  # it ran elsewhere


def test_differences_are_told_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = PAGE.replace("3.5\nagain", "3.4\nagain").replace("    wrong\n    ```", "    right\n    ```")
    path = page(tmp_path, stale)
    assert main([str(path)]) == 1
    told = capsys.readouterr().out
    assert "page.md:26 printed something else" in told
    assert "-3.4\n+3.5" in told
    assert "-right\n+wrong" in told
    assert path.read_text() == stale  # without --write nothing is written
    assert main(["--write", str(path)]) == 1
    assert path.read_text() == PAGE
    assert main([str(path)]) == 0


def test_what_is_printed_must_be_shown(tmp_path: Path) -> None:
    outcome = run_page(page(tmp_path, "```python\nprint(1)\n```\n\nText.\n"))
    assert "printed something else" in outcome.complaints[0]
    assert outcome.text == "```python\nprint(1)\n```\n\n```text\n1\n```\n\nText.\n"
    outcome = run_page(page(tmp_path, "```python\nx = 1\n```\n\n```text\n1\n```\n"))
    assert "-1" in outcome.complaints[0]


def test_errors_name_the_line_of_the_page_and_stop_it(tmp_path: Path) -> None:
    text = "Text.\n\n```python\nx = 1\nprint(y)\n```\n\n```text\n1\n```\n\n```python\nprint(2)\n```\n"
    outcome = run_page(page(tmp_path, text))
    assert any('page.md:4", line 5' in one and "NameError" in one for one in outcome.complaints)
    assert not any("page.md:13" in one for one in outcome.complaints)
    assert outcome.text == text  # what a failed block printed is not its output
    ended = run_page(page(tmp_path, "```python\nimport os\nos._exit(0)\n```\n"))
    assert "did not end" in ended.complaints[0]


def test_a_command_that_fails_must_show_why(tmp_path: Path) -> None:
    (complaint,) = run_page(page(tmp_path, "```console\n$ exit 3\n```\n")).complaints
    assert "exited with 3" in complaint
    (complaint,) = run_page(page(tmp_path, "```console\n$ echo no; exit 3\n...\n```\n")).complaints
    assert "exited with 3" in complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python no-run\nx = 1\n```", "expected a block of python"),
        ("```bash\nls\n```", "got 'bash'"),
        ("```\nls\n```", "got ''"),
        ("```sh\npip install .\n```", "got 'sh'"),
        ("```toml\nx = 1\n```", "# file: NAME"),
        ("```console\nls\n```", r"expected `\$ command`"),
        ("```python\nx = 1\n", "has no end"),
    ],
)
def test_no_other_block_is_allowed(text: str, complaint: str) -> None:
    with pytest.raises(BadPage, match=complaint):
        steps_of(text)


def test_installing_is_shown_with_sh_on_the_pages_that_do() -> None:
    assert steps_of("```sh\npip install .\n```", installing=True) == []


def test_pages_without_code_are_not_executable() -> None:
    assert not is_executable("# A page\n\n```text\nas it is\n```\n")
    assert is_executable(PAGE)


def test_a_longer_fence_holds_shorter_ones() -> None:
    (block,) = blocks_of("````text\n```python\n```\n````\n")
    assert block.lines == ("```python", "```")


def test_dots_stand_for_anything() -> None:
    assert matches(("took ... s", "...", "end"), ["took 3 s", "a", "b", "end  "])
    assert not matches(("took ... s",), ["took 3 minutes"])
    assert not matches(("a b",), ["a  b"])


def test_lines_with_dots_are_kept_where_they_still_match() -> None:
    assert merged(("best 1", "took ... s"), ["best 2", "took 4 s"]) == ["best 2", "took ... s"]
    assert merged(("best 1", "took ... s"), ["best 2", "in 4 s"]) == ["best 2", "in 4 s"]
    assert merged(("first 1", "...", "last 1"), ["first 2", "a", "b", "last 2"]) == ["first 2", "...", "last 2"]
