"""`quadrat methods`."""

from __future__ import annotations

import json

from rich import box
from rich.table import Table
from rich.text import Text

from quadrat.methods import registry
from quadrat.optimizer import DEFAULT_METHOD

__all__ = ["methods_json", "methods_table"]


def methods_table() -> Table:
    """Return the table of methods, one row each."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), leading=1)
    table.add_column("method", width=max(len(name) for name in registry.names()) + 2)
    table.add_column("best for", ratio=1, overflow="fold")
    table.add_column("assumes", ratio=1, overflow="fold")
    table.add_column("handles", ratio=1, overflow="fold")
    table.add_column("certifies", min_width=len("certifies"))
    for name, method in registry.all_methods().items():
        facts = method.facts
        shown = Text(f"{name} *" if name == DEFAULT_METHOD else name, style="bold").append(
            f"\n{facts.title}", "not bold"
        )
        shown.append(f"\n({facts.paper})", "not bold dim")
        table.add_row(
            shown, facts.best_for, facts.assumes, ", ".join(facts.handles), "yes" if facts.certifies else "no"
        )
    table.caption = "\n* used when no method is named"
    table.caption_justify = "left"
    return table


def methods_json() -> str:
    """Return the same as JSON, a list of objects."""
    rows = [
        {
            "name": name,
            "title": method.facts.title,
            "paper": method.facts.paper,
            "best_for": method.facts.best_for,
            "assumes": method.facts.assumes,
            "certifies": method.facts.certifies,
            "handles": list(method.facts.handles),
            "default": name == DEFAULT_METHOD,
        }
        for name, method in registry.all_methods().items()
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False)
