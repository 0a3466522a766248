"""Put measured tables and the code of examples into pages: what a page shows cannot differ from what is committed.

python docs/tables.py            writes the pages
python docs/tables.py --check    exits with 1 and names the pages that differ from what they show

In a page, what stands between a marker and `<!-- end -->` is replaced:

<!-- table: PATH -->             the last paragraph of a file, which is a table
<!-- table: PATH: WORDS -->      the first table at or after the line that begins with these words: a heading's, or its
                                 first column's
<!-- code: PATH -->              a file, as a block that docs/blocks.py writes to the page's folder
<!-- code: PATH: NAME -->        the part of a file under its comment `# --- NAME`, as a block that runs; "start" is the
                                 part above the first such comment
<!-- losses -->                  where other methods are better than ours, or we cannot tell (docs/losses.py)
<!-- times -->                   how long the benchmarks ran (docs/run_times.py)

Paths are from the repository's root.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from losses import losses
from run_times import times

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
END = "<!-- end -->"
_MARKER = re.compile(rf"(<!-- (table|code|losses|times)(?:: ([^\n:]+?)(?:: ([^\n]+?))?)? -->\n)(.*?)({END})", re.DOTALL)
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json"}


def last_paragraph(text: str) -> str:
    """Return what stands behind the last empty line."""
    return text.strip().split("\n\n")[-1]


def table_at(text: str, words: str) -> str:
    """Return the first table at or after the line whose heading or first column begins with these words."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if line.lstrip("#| ").startswith(words):
            while first < len(lines) and not lines[first].startswith("|"):
                first += 1
            last = first
            while last < len(lines) and lines[last].startswith("|"):
                last += 1
            if last > first:
                return "\n".join(lines[first:last])
    raise ValueError(f"expected a table at or after a line that begins with {words!r}, got none")


def part_of(text: str, name: str) -> str:
    """Return the part of a script under its comment `# --- name`, or what stands above the first one."""
    parts = re.split(r"^# --- (.+)\n", text, flags=re.MULTILINE)
    named = dict(zip(["start", *parts[1::2]], parts[0::2], strict=True))
    if name not in named:
        raise ValueError(f"expected one of the parts {', '.join(named)}, got {name!r}")
    return named[name].strip("\n")


def shown(kind: str, path: str | None, words: str | None) -> str:
    """Return what belongs between a marker and its end."""
    if path is None:
        return {"losses": losses, "times": times}[kind]()
    text = (ROOT / path).read_text()
    if kind == "table":
        return last_paragraph(text) if words is None else table_at(text, words)
    language = _LANGUAGES[Path(path).suffix]
    code = f"# file: {Path(path).name}\n{text.rstrip()}" if words is None else part_of(text, words)
    return f"```{language}\n{code}\n```"


def filled(page: str) -> str:
    """Return the text of a page with what its markers ask for."""
    return _MARKER.sub(lambda at: f"{at[1]}{shown(at[2], at[3], at[4])}\n{at[6]}", page)


def main(*, check: bool) -> int:
    """Write the pages, or name those that differ."""
    status = 0
    for page in PAGES:
        text = page.read_text()
        wanted = filled(text)
        if wanted != text and check:
            sys.stdout.write(f"{page.relative_to(ROOT)} differs; python docs/tables.py writes it\n")
            status = 1
        elif wanted != text:
            page.write_text(wanted)
    return status


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv))
