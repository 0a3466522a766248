"""Line and interval charts as SVG, drawn by matplotlib: equal input gives equal output.

A chart is a grid of panels on white, so that it reads on light and dark pages, with one legend below: a name has one
colour in all panels. `Panel` has lines, shaded quartiles, points with error bars and dashed references on linear or
logarithmic axes; `DotPanel` has a row of dots with intervals for each label, against a vertical rule.

Values that are not finite are skipped and leave a gap, as do values that are not positive on a logarithmic axis.
Matplotlib is imported where a chart is drawn: reports without figures do not need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "PALETTE", "Dot", "DotPanel", "DotRow", "Line", "Panel", "Points", "Reference",
    "alike", "chart", "palette", "slope",
]  # fmt: skip

Values: TypeAlias = NDArray[np.float64]

# Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which white paper swallows;
# grey and olive follow for baselines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1f2933", "#8a929b", "#7f7a1f")
INK, SOFT, FAINT, ROW = "#1f2933", "#52606d", "#e4e7eb", "#f7f8f9"
WIDTH, HEIGHT = 840, 210  # pixels: of a chart; of the area inside the axes of a line panel, about
PITCH = 11  # pixels between dots of one row
# The layout uses DejaVu Sans, which comes with matplotlib, so that it is the same on every machine. Readers see the
# words in FONTS, which are narrower: what does not overlap here does not overlap there.
FONTS = "Helvetica, Arial, sans-serif"
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 11.0, "text.color": INK, "text.parse_math": False,
    "svg.fonttype": "none", "svg.hashsalt": "quadrat",
    "axes.titlesize": 12.0, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlecolor": INK,
    "axes.labelcolor": INK, "axes.labelsize": 11.0, "axes.edgecolor": SOFT, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 1.0,
    "xtick.color": SOFT, "ytick.color": SOFT, "xtick.labelsize": 10.5, "ytick.labelsize": 10.5,
    "lines.linewidth": 1.9, "lines.markeredgecolor": "white", "lines.markeredgewidth": 0.8, "lines.markersize": 6.5,
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.12,
    "legend.frameon": False, "legend.fontsize": 11.0, "legend.handlelength": 2.2, "legend.columnspacing": 1.6,
}  # fmt: skip


# --- what is drawn


@dataclass(frozen=True)
class Line:
    """A line through (x, y), each of length n; `low` and `high`, of the same length, bound a shaded band."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    dashed: bool = False
    marks: bool = False  # a dot at every point


class Points(Line):
    """Dots at (x, y), each of length n, with error bars from `low` to `high`, and no line through them."""


@dataclass(frozen=True)
class Reference:
    """A dashed grey line through (x, y), labelled at its highest end; it does not widen the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Lines and points between two axes, whose ranges follow from the data."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    references: Sequence[Reference] = ()
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Dot:
    """A value with its interval; `name` gives the colour."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class DotRow:
    """The dots of one label, drawn below each other."""

    label: str
    dots: Sequence[Dot]

    @property
    def height(self) -> float:
        """Pixels that the row takes."""
        return max(22.0, PITCH * len(self.dots) + 10.0)


@dataclass(frozen=True)
class DotPanel:
    """Rows of dots with intervals against a vertical rule; `percent` writes .1 as 10 %.

    `root_x` makes the axis linear in the square root, for values >= 0: rates of 1 % and of 100 % are both readable.
    """

    title: str
    x_label: str
    rows: Sequence[DotRow]
    rule: float | None = None
    rule_label: str = ""
    root_x: bool = False
    x_range: tuple[float, float] | None = None
    percent: bool = False


def slope(label: str, exponent: float, through: tuple[float, float], x_from: float, x_to: float) -> Reference:
    """Return the power law y = b x^exponent through a point: a straight line where both axes are logarithmic."""
    x, y = through
    ends = (x_from, x_to)
    return Reference(label, ends, tuple(y * (end / x) ** exponent for end in ends))


def palette(names: Iterable[str]) -> dict[str, str]:
    """Give each name a colour, in order; for more than nine names, choose colours and dashes by hand."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > len(PALETTE):
        raise ValueError(f"names: expected at most {len(PALETTE)}, got {len(distinct)}")
    return dict(zip(distinct, PALETTE, strict=False))


# --- panels


def _ticks(axis: Axis, most: int, *, percent: bool = False) -> None:
    """Label at most about `most` values: 1-2-5 steps; on a logarithmic axis as many digits as have room, or decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        decades = log10(high / low)
        # the smallest gap in decades -> digits
        choices = {0.046: range(1, 10), 0.125: (1, 1.5, 2, 3, 5, 7), 0.146: (1, 2, 3, 5, 7), 0.301: (1, 2, 5)}
        digits = next((digits for gap, digits in choices.items() if gap * most >= 0.75 * decades), (1,))
        axis.set_major_locator(LogLocator(subs=[float(digit) for digit in digits], numticks=max(most, 3)))
        axis.set_minor_locator(
            LogLocator(subs=[float(digit) for digit in range(2, 10)], numticks=99 if decades <= 8 else 1)
        )
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))

    def written(value: float, _: int | None) -> str:
        return (f"{100 * value:.6g} %" if percent else f"{value:,.6g}").replace("-", "−")

    axis.set_major_formatter(FuncFormatter(written))


def _shown(values: Sequence[float] | None, log: bool) -> Values:
    """The values as an array, NaN where the axis cannot show them."""
    given = np.asarray(() if values is None else values, dtype=float)
    return np.where(np.isfinite(given) & (not log or given > 0), given, np.nan)


def _from_zero(axes: Axes, which: Literal["x", "y"]) -> None:
    """Begin an axis at 0 where 0 is near the data, and keep both its ends."""
    data, limits = getattr(axes.dataLim, f"interval{which}"), list(getattr(axes, f"get_{which}lim")())
    if getattr(axes, f"get_{which}scale")() != "log" and 0 <= data[0] < 0.35 * data[1]:
        limits[0] = 0.0
    axes.set(**{f"{which}lim": limits})


def _draw_line(axes: Axes, line: Line, colour: str) -> None:
    log = axes.get_yscale() == "log"
    x, y, high = _shown(line.x, axes.get_xscale() == "log"), _shown(line.y, log), _shown(line.high, log)
    low = _shown(line.low, False)  # a band that reaches 0 goes down to the edge of a logarithmic axis
    known = np.isfinite(x) & np.isfinite(y)
    axes.update_datalim([(at, 1.0) for at in x[np.isfinite(x)]], updatey=False)  # gaps at the ends are shown, too
    beside = np.concatenate([[False], known, [False]])
    dots = isinstance(line, Points)
    marks = known if dots or line.marks else known & ~(beside[:-2] | beside[2:])  # a point between gaps is no line
    if dots and line.low is not None:
        whole = known & (high > low)
        middle, half = (high + low)[whole] / 2, (high - low)[whole] / 2
        axes.errorbar(x[whole], middle, half, fmt="none", ecolor=colour, elinewidth=1.4, capsize=3)
    elif line.low is not None:
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)
    axes.plot(
        x, y, color=colour, linestyle="none" if dots else "--" if line.dashed else "-",
        marker="o" if marks.any() else "", markevery=marks, label=line.name if known.any() else None,
    )  # fmt: skip


def _draw_panel(axes: Axes, panel: Panel, colours: Mapping[str, str], wide: float, tall: float) -> None:
    axes.set(xscale="log" if panel.log_x else "linear", yscale="log" if panel.log_y else "linear")
    axes.set(xlabel=panel.x_label, ylabel=panel.y_label)
    axes.margins(0.04 if any(isinstance(line, Points) or line.marks for line in panel.lines) else 0.0, 0.05)
    for line in panel.lines:
        _draw_line(axes, line, colours[line.name])
    axes.set_xlim(axes.get_xlim())
    _from_zero(axes, "y")
    for reference in panel.references:
        axes.plot(reference.x, reference.y, color=SOFT, linewidth=1.2, dashes=(3, 3), zorder=1.5)
        x, y = max(zip(reference.x, reference.y, strict=True), key=lambda place: place[::-1])
        axes.annotate(reference.label, (x, y), (4, 0), textcoords="offset points", color=SOFT, va="top")
    _ticks(axes.xaxis, max(2, int(wide / (50 if panel.log_x else 40))))
    _ticks(axes.yaxis, max(2, int(tall / 30)))


def _draw_dots(axes: Axes, panel: DotPanel, colours: Mapping[str, str], wide: float) -> None:
    if panel.root_x:
        axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    edges = np.cumsum([0.0, *(row.height for row in panel.rows)])
    middles = (edges[:-1] + edges[1:]) / 2
    for row, middle in zip(panel.rows, middles, strict=True):
        for j, dot in enumerate(row.dots):
            down, colour = middle + PITCH * (j - (len(row.dots) - 1) / 2), colours[dot.name]
            if np.isfinite([dot.low, dot.high]).all():
                bar = axes.plot([dot.low, dot.high], [down, down], color=colour, linewidth=1.6, marker="|")
                bar[0].set(clip_on=False, markeredgecolor=colour, markeredgewidth=1.4)
            if np.isfinite(dot.value):  # not clipped: whole at the edge, too
                axes.plot(dot.value, down, "o", color=colour, label=dot.name, clip_on=False)
    if panel.rule is not None:
        axes.axvline(panel.rule, color=INK, linewidth=1.2, dashes=(4, 3), zorder=1.5)
        place, across = (panel.rule, 1.0), axes.get_xaxis_transform()
        axes.annotate(panel.rule_label, place, (0, 4), across, "offset points", color=SOFT, ha="center")
    axes.set(ylim=(edges[-1] + 4, -4), xlabel=panel.x_label)
    axes.set_yticks(middles, [row.label for row in panel.rows])
    axes.tick_params("y", length=0, pad=8, labelcolor=INK)
    axes.grid(visible=False, axis="y")
    _from_zero(axes, "x")
    if panel.x_range is not None:
        axes.set_xlim(panel.x_range)
    for low, high in zip(edges[:-1:2], edges[1::2], strict=True):
        axes.axhspan(low, high, color=ROW, zorder=0)
    _ticks(axes.xaxis, max(2, int(wide / 60)), percent=panel.percent)
    if panel.root_x:
        top, ticks = axes.get_xlim()[1], [0.0]
        for share in (5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01):  # from the top down, where there is room
            tick = share * 10.0 ** floor(log10(top))
            if tick <= top and np.abs(np.sqrt(ticks) - sqrt(tick)).min() >= 0.09 * sqrt(top):
                ticks.append(tick)
        axes.set(xlim=(0, top), xticks=sorted(ticks))


# --- the chart


def chart(
    panels: Sequence[Panel | DotPanel],
    columns: int,
    colours: Mapping[str, str] | None = None,
    *,
    title: str = "",
    width: float = WIDTH,
    height: float = HEIGHT,
) -> str:
    """Draw panels in rows of `columns` and return the SVG.

    Parameters
    ----------
    panels
        From left to right, row by row.
    columns
        Panels in a row, >= 1.
    colours
        Name -> colour such as "#0072B2"; names that it lacks get the next unused colours of the palette.
    title
        Spoken by screen readers and shown as a tooltip, not drawn; the page says it in words. Panels' titles if empty.
    width
        Of the chart in pixels; it scales with the page.
    height
        Inside the axes of a line panel, in pixels, about; dot panels are as high as their rows.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn = [[dot for row in p.rows for dot in row.dots] if isinstance(p, DotPanel) else p.lines for p in panels]
    chosen = dict(colours or {})
    free = [colour for colour in PALETTE if colour not in chosen.values()] or list(PALETTE)
    others = dict.fromkeys(part.name for parts in drawn for part in parts if part.name not in chosen)
    chosen |= {name: free[i % len(free)] for i, name in enumerate(others)}
    columns = min(max(1, columns), max(1, len(panels)))
    inner = [sum(row.height for row in p.rows) + 8 if isinstance(p, DotPanel) else height for p in panels]
    tall = [max(inner[i : i + columns]) for i in range(0, len(panels), columns)]
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(dpi=72, layout="constrained")  # 72 dpi: a point is a pixel
        grid = figure.add_gridspec(max(1, len(tall)), columns, height_ratios=tall or None)
        for i, panel in enumerate(panels):
            axes = figure.add_subplot(grid[divmod(i, columns)])
            axes.set_title(panel.title, pad=22 if isinstance(panel, DotPanel) and panel.rule is not None else 6)
            if isinstance(panel, DotPanel):
                _draw_dots(axes, panel, chosen, width / columns - 80)
            else:
                _draw_panel(axes, panel, chosen, width / columns - 80, height)
        total = sum(tall) + 84 * len(tall) + 17 * _legend(figure, width) + 20
        figure.set_size_inches(width / 72, total / 72)
        buffer = StringIO()
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    spoken = title or "; ".join(panel.title for panel in panels)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:g}"'
        f' height="{total:g}" viewBox="0 0 {width:g} {total:g}" role="img" aria-label={quoteattr(spoken)}>\n'
        f"<title>{escape(spoken)}</title>"
    )
    body = re.sub(r"^.*?<svg[^>]*>", "", buffer.getvalue(), count=1, flags=re.DOTALL).replace("'DejaVu Sans'", FONTS)
    return head + re.sub(r"<[^>]*>", _rounded, body)


def _legend(figure: Figure, width: float) -> int:
    """Write each name once, below all panels, in as few rows as fit; and return how many."""
    found = [pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    samples = {name: sample for sample, name in reversed(found)}
    names = list(dict.fromkeys(name for _, name in found))
    for rows in range(1, len(names) + 1):
        across = ceil(len(names) / rows)
        order = [
            name for i in range(across) for name in names[i::across]
        ]  # matplotlib fills columns, readers read rows
        legend = figure.legend([samples[name] for name in order], order, ncols=across, loc="outside lower center")
        if across == 1 or legend.get_window_extent().width <= width - 16:
            return rows
        legend.remove()
    return 0


def _rounded(tag: re.Match[str]) -> str:
    """A tag with two decimals, which is less than readers see, and without spaces at the ends of lines."""
    return re.sub(r" +\n", "\n", re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag[0]))


def alike(one: str, other: str) -> bool:
    """Whether two charts show the same words and data: two versions of matplotlib may place them a pixel apart."""
    (words, places), (other_words, other_places) = _content(one), _content(other)
    same = [a.shape == b.shape and np.allclose(a, b, atol=0.005) for a, b in zip(places, other_places, strict=False)]
    return words == other_words and len(places) == len(other_places) and all(same)


def _content(svg: str) -> tuple[list[str], list[Values]]:
    """All words; and the points of each path and mark, in units of its axes, shape (n, 2)."""
    root, name = ET.fromstring(svg), "{http://www.w3.org/2000/svg}"  # noqa: S314
    words = [root.attrib["aria-label"], *("".join(text.itertext()) for text in root.iter(f"{name}text"))]
    shapes = {
        path: np.array(re.findall(r"-?[\d.]+", path.get("d", "")), dtype=float).reshape(-1, 2)
        for path in root.iter(f"{name}path")
    }
    named = {f"#{path.get('id')}": shape for path, shape in shapes.items()}
    found: list[Values] = []
    for group in (group for group in root.iter(f"{name}g") if group.get("id", "").startswith("axes_")):
        places = [shapes[path] for path in group.iter(f"{name}path") if "id" not in path.attrib]
        for mark in group.iter(f"{name}use"):  # a shape that is defined once, and where it is used
            at = float(mark.attrib["x"]), float(mark.attrib["y"])
            places.append(named[mark.attrib["{http://www.w3.org/1999/xlink}href"]] + at)
        corner, size = places[0].min(axis=0), np.ptp(places[0], axis=0)  # the first is the frame
        found += [(place - corner) / size for place in places]
    return words, found
