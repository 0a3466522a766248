"""Line and interval charts as SVG, without a plotting library: text in, text out, equal input gives equal output.

A chart is a grid of panels on a white card, so that it reads on light and dark pages, with one legend below: a name has
one colour in all panels. `Panel` has lines, shaded quartiles, points with error bars and dashed references on linear or
logarithmic axes; `DotPanel` has a row of dots with intervals for each label, against a vertical rule.

What is not finite is skipped and leaves a gap; so is what is not positive on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import ceil, floor, isfinite, log10, sqrt
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

__all__ = ["PALETTE", "Dot", "DotPanel", "DotRow", "Line", "Panel", "Points", "Reference", "chart", "palette", "slope"]

# Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which white paper swallows;
# grey and olive follow for baselines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1f2933", "#8a929b", "#7f7a1f")
INK, SOFT, FAINT = "#1f2933", "#52606d", "#e4e7eb"
SIZE, TITLE_SIZE = 12, 13.5  # of the words, in pixels at the natural width
WIDTH, HEIGHT = 840, 210  # of a chart; of the area inside the axes of a line panel
EDGE, GAP = 14, 24  # around the panels; between them, and right of the last, where half a tick label may stand
PITCH = 11  # between dots of one row, in pixels


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


@dataclass(frozen=True)
class Points:
    """Dots at (x, y), each of length n, with error bars from `low` to `high`."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Reference:
    """A dashed grey line through (x, y), labelled in place; it does not widen the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Lines and points between two axes; a range that is not given follows from the data."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line | Points]
    references: Sequence[Reference] = ()
    log_x: bool = False
    log_y: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


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


AnyPanel: TypeAlias = Panel | DotPanel
Place: TypeAlias = tuple[float, float]


def slope(label: str, exponent: float, through: Place, x_from: float, x_to: float) -> Reference:
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


# --- axes


@dataclass(frozen=True)
class Axis:
    """A map from [low, high] to pixels [start, end]; "root" is linear in the square root, from 0."""

    low: float
    high: float
    form: Literal["linear", "log", "root"]
    start: float
    end: float

    @property
    def log(self) -> bool:
        """Whether it is logarithmic."""
        return self.form == "log"

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; NaN for what the axis cannot show."""
        if not isfinite(value) or (self.log and value <= 0) or (self.form == "root" and value < 0):
            return float("nan")
        return self.start + self._share(value) * (self.end - self.start)

    def _share(self, value: float) -> float:
        if self.log:
            return log10(value / self.low) / log10(self.high / self.low)
        if self.form == "root":
            return sqrt(value / self.high)
        return (value - self.low) / (self.high - self.low)

    def shows(self, value: float) -> bool:
        """Whether a value lies on the axis, up to rounding."""
        place = self(value)
        return isfinite(place) and min(self.start, self.end) - 0.01 <= place <= max(self.start, self.end) + 0.01

    def ticks(self, most: int) -> list[float]:
        """Return at most about `most` labelled values: 1-2-5 steps, or decades."""
        if self.form == "linear":
            return [tick for tick in _round_values(self.low, self.high, most) if self.shows(tick)]
        if self.form == "root":
            return self._root_ticks(abs(self.end - self.start) / most)
        first, last = floor(log10(self.low)), ceil(log10(self.high))
        shown: list[float] = []
        for digits in (
            (1, 2, 3, 4, 5, 6, 7, 8, 9),
            (1, 2, 3, 5, 7),
            (1, 2, 5),
            (1,),
        ):  # the fullest that is not too full
            shown = [d * 10.0**p for p in range(first, last + 1) for d in digits if self.shows(d * 10.0**p)]
            if len(shown) <= most:
                break
        every = ceil(len(shown) / most)  # many decades: every second, every third, ...
        return [tick for tick in shown if round(log10(tick)) % every == 0] if every > 1 else shown

    def _root_ticks(self, apart: float) -> list[float]:
        """0 and 1-2-5 values from the top down, as long as they lie `apart` pixels from each other."""
        top = floor(log10(self.high) + 1e-9)
        found = [0.0]
        for tick in (d * 10.0**p for p in range(top, top - 4, -1) for d in (5, 2, 1)):
            if self.shows(tick) and all(abs(self(tick) - self(other)) >= apart for other in found):
                found.append(round(tick, 4 - top))
        return sorted(found)

    def minor(self) -> list[float]:
        """Return 2, 3, ..., 9 times each power of ten, on a logarithmic axis of no more than eight decades."""
        if not self.log or self.high / self.low > 1e8:
            return []
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        return [d * 10.0**p for p in powers for d in range(2, 10) if self.shows(d * 10.0**p)]


def _round_values(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, no more than `most` (or two) of them."""
    power = 10.0 ** floor(log10((high - low) / most))
    step = next(m * power for m in (1, 2, 5, 10, 20) if (high - low) / (m * power) <= most)
    digits = max(0, -floor(log10(step) + 1e-9))
    return [round(i * step, digits) for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def label_of(value: float, *, percent: bool = False) -> str:
    """Write a tick: 0.02, 1, 10,000; powers of ten as such where the zeros would have to be counted."""
    if percent:
        return f"{100 * value:.6g} %"
    size = abs(value)
    if value == 0 or 1e-3 * (1 - 1e-9) <= size < 999_999.5:
        words = f"{value:,.6f}".rstrip("0").rstrip(".")
        return words.replace("-", "−")
    power = floor(log10(size) + 1e-9)
    factor = f"{value / 10.0**power:.4g}"
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return (f"10{raised}" if factor == "1" else f"{factor}·10{raised}").replace("-", "−")


def _limits(values: Iterable[float], given: tuple[float, float] | None, log: bool, *, pad: bool) -> tuple[float, float]:
    """The range of an axis: as given, or the data's, with some room, from 0 where 0 is near."""
    if given is not None:
        return given
    kept = [value for value in values if isfinite(value) and (value > 0 or not log)]
    low, high = (min(kept), max(kept)) if kept else ((0.1, 1.0) if log else (0.0, 1.0))
    if log:
        if high / low < 1 + 1e-9:
            low, high = low / 2, high * 2
        room = (high / low) ** (0.05 if pad else 0.0)
        return low / room, high * room
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.5 * max(abs(low), 1e-9), high + 0.5 * max(abs(high), 1e-9)
    room = 0.05 * (high - low) if pad else 0.0
    from_zero = pad and 0 <= low < 0.35 * high
    return (0.0 if from_zero else low - room), high + room


# --- pieces of SVG

_LETTERS = {**dict.fromkeys("ijlI.,:;'|!()[] ", 0.29), **dict.fromkeys("ftr-", 0.33), **dict.fromkeys("mMWw%@", 0.83)}


def _words(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, size: float = SIZE, more: str = ""
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}"{more}>'
        f"{escape(words)}</text>"
    )


def _width_of(words: str, size: float = SIZE) -> float:
    """About how wide the words are, in pixels: Helvetica's widths and a tenth, as other fonts are wider."""
    return 1.1 * size * sum(_LETTERS.get(letter, 0.67 if letter.isupper() else 0.55) for letter in words)


def _segment(a: Place, b: Place, colour: str, width: float = 1.0, more: str = "") -> str:
    return (
        f'<path d="M{a[0]:.1f},{a[1]:.1f} L{b[0]:.1f},{b[1]:.1f}" stroke="{colour}" stroke-width="{width:g}"{more}'
        ' fill="none"/>'
    )


def _circle(at: Place, colour: str, radius: float = 3.0) -> str:
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}" fill="{colour}" stroke="white" stroke-width="0.8"/>'
    )


def _through(points: Sequence[Place]) -> str:
    return " ".join(f"{'L' if i else 'M'}{a:.1f},{b:.1f}" for i, (a, b) in enumerate(points))


def _pieces(points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Runs of finite points; gaps lie between them."""
    piece: list[tuple[float, ...]] = []
    for point in points:
        if all(isfinite(part) for part in point):
            piece.append(point)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _thinned(points: Sequence[Place]) -> list[Place]:
    """Leave out points less than .7 pixels from the one kept before: thousands of steps stay a small file."""
    kept: list[Place] = []
    for i, (a, b) in enumerate(points):
        if not kept or i == len(points) - 1 or (a - kept[-1][0]) ** 2 + (b - kept[-1][1]) ** 2 >= 0.49:
            kept.append((a, b))
    return kept


def _line(line: Line, x: Axis, y: Axis, colour: str) -> tuple[list[str], list[Place]]:
    """The band and the path of a line, and the places that it covers."""
    parts: list[str] = []
    covered: list[Place] = []
    if line.low is not None and line.high is not None:
        floor_ = y.low if y.log else -float("inf")  # a band that reaches 0 goes down to the edge
        rows = ((x(a), y(max(b, floor_)), y(c)) for a, b, c in zip(line.x, line.low, line.high, strict=True))
        for piece in _pieces(rows):
            upper = _thinned([(a, c) for a, _, c in piece])
            lower = _thinned([(a, b) for a, b, _ in piece])
            if len(piece) > 1:
                outline = _through([*upper, *reversed(lower)])
                parts.append(f'<path d="{outline} Z" fill="{colour}" fill-opacity="0.13" stroke="none"/>')
    for piece in _pieces((x(a), y(b)) for a, b in zip(line.x, line.y, strict=True)):
        places = [(a, b) for a, b in piece]
        dash = ' stroke-dasharray="6 4"' if line.dashed else ""
        if len(places) > 1:
            parts.append(
                f'<path d="{_through(_thinned(places))}" fill="none" stroke="{colour}" stroke-width="1.9"'
                f' stroke-linejoin="round" stroke-linecap="round"{dash}/>'
            )
        if line.marks or len(places) == 1:
            parts += [_circle(place, colour) for place in places]
        covered += _filled(places)
    return parts, covered


def _filled(places: Sequence[Place], apart: float = 6.0) -> list[Place]:
    """The places and more between them, about so many pixels apart: what a label must not cover."""
    found = list(places[:1])
    for (a, b), (c, d) in pairwise(places):
        steps = min(ceil(sqrt((c - a) ** 2 + (d - b) ** 2) / apart) or 1, 1000)
        found += [(a + (c - a) * i / steps, b + (d - b) * i / steps) for i in range(1, steps + 1)]
    return found


def _bars(points: Points, x: Axis, y: Axis, colour: str) -> tuple[list[str], list[Place]]:
    """Dots with error bars, and the places that they cover."""
    parts: list[str] = []
    covered: list[Place] = []
    low = points.y if points.low is None else points.low
    high = points.y if points.high is None else points.high
    for a, b, c, d in zip(points.x, points.y, low, high, strict=True):
        at = x(a), y(b)
        if not all(isfinite(part) for part in at):
            continue
        ends = y(max(c, y.low) if y.log else c), y(d)
        if all(isfinite(end) for end in ends) and d > c:
            parts.append(_segment((at[0], ends[0]), (at[0], ends[1]), colour, 1.4))
            parts += [_segment((at[0] - 3, end), (at[0] + 3, end), colour, 1.4) for end in ends]
            covered += _filled([(at[0], ends[0]), (at[0], ends[1])])
        parts.append(_circle(at, colour, 3.2))
        covered.append(at)
    return parts, covered


# --- panels


@dataclass(frozen=True)
class Box:
    """The area inside the axes, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


def _clipped(parts: list[str], box: Box, beyond: float = 4.0) -> list[str]:
    """Put data into an inner svg of the same coordinates: it clips, dots at the edge apart, and needs no identifier."""
    if not parts:
        return []
    x, y = box.left - beyond, box.top - beyond
    w, h = box.right - box.left + 2 * beyond, box.bottom - box.top + 2 * beyond
    where = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" viewBox="{x:.1f} {y:.1f} {w:.1f} {h:.1f}"'
    return [f"<svg {where}>", *parts, "</svg>"]


def _x_axis(axis: Axis, box: Box, label: str, *, percent: bool = False) -> list[str]:
    minor = map(axis, axis.minor())
    parts = [_segment((at, box.bottom), (at, box.bottom + 2.5), SOFT, 0.8) for at in minor]
    widest = 46 if percent or not axis.log else 50
    after = -float("inf")
    for tick in axis.ticks(max(2, int((box.right - box.left) / widest))):
        at, words = axis(tick), label_of(tick, percent=percent)
        parts.append(_segment((at, box.top), (at, box.bottom), FAINT))
        parts.append(_segment((at, box.bottom), (at, box.bottom + 5), SOFT))
        if at - _width_of(words) / 2 > after:  # labels that would touch the one before are left out
            parts.append(_words(at, box.bottom + 18, words, anchor="middle", colour=SOFT))
            after = at + _width_of(words) / 2 + 2
    parts.append(_segment((box.left, box.bottom), (box.right, box.bottom), SOFT))
    parts.append(_words((box.left + box.right) / 2, box.bottom + 36, label, anchor="middle"))
    return parts


def _y_axis(axis: Axis, box: Box, label: str, label_at: float) -> list[str]:
    minor = map(axis, axis.minor())
    parts = [_segment((box.left - 2.5, at), (box.left, at), SOFT, 0.8) for at in minor]
    for tick in _y_ticks(axis, box.bottom - box.top):
        at = axis(tick)
        parts.append(_segment((box.left, at), (box.right, at), FAINT))
        parts.append(_segment((box.left - 5, at), (box.left, at), SOFT))
        parts.append(_words(box.left - 8, at + 4, label_of(tick), anchor="end", colour=SOFT))
    parts.append(_segment((box.left, box.top), (box.left, box.bottom), SOFT))
    middle = (box.top + box.bottom) / 2
    turned = f' transform="rotate(-90 {label_at:.1f} {middle:.1f})"'
    parts.append(_words(label_at, middle, label, anchor="middle", more=turned))
    return parts


def _y_ticks(axis: Axis, height: float) -> list[float]:
    return axis.ticks(max(2, int(height / 30)))


def _axes_of(panel: Panel, box: Box) -> tuple[Axis, Axis]:
    xs = (value for line in panel.lines for value in line.x)
    ys = (
        value
        for line in panel.lines
        for part in (line.y, line.low, line.high)
        for value in (() if part is None else part)
    )
    pad_x = any(isinstance(line, Points) or line.marks for line in panel.lines)
    x_low, x_high = _limits(xs, panel.x_range, panel.log_x, pad=False)
    if pad_x and panel.x_range is None:
        room = (x_high / x_low) ** 0.04 if panel.log_x else 0.04 * (x_high - x_low)
        x_low, x_high = (x_low / room, x_high * room) if panel.log_x else (x_low - room, x_high + room)
    y_low, y_high = _limits(ys, panel.y_range, panel.log_y, pad=True)
    x = Axis(x_low, x_high, "log" if panel.log_x else "linear", box.left, box.right)
    return x, Axis(y_low, y_high, "log" if panel.log_y else "linear", box.bottom, box.top)


def _left_room(panel: AnyPanel, height: float) -> float:
    """Pixels left of the axis: tick labels and the turned label, or the labels of rows."""
    if isinstance(panel, DotPanel):
        return max((_width_of(row.label) for row in panel.rows), default=0.0) + 14
    _, y = _axes_of(panel, Box(0, 0, 1, height))
    return max((_width_of(label_of(tick)) for tick in _y_ticks(y, height)), default=0.0) + 34


def _inner_height(panel: AnyPanel, height: float) -> float:
    if isinstance(panel, DotPanel):
        return sum(_row_height(row) for row in panel.rows) + 8.0
    return height


def _row_height(row: DotRow) -> float:
    return max(22.0, PITCH * len(row.dots) + 10.0)


def _draw_panel(panel: Panel, box: Box, colours: Mapping[str, str]) -> list[str]:
    x, y = _axes_of(panel, box)
    left = box.left - _left_room(panel, box.bottom - box.top) + 12
    parts = [*_x_axis(x, box, panel.x_label), *_y_axis(y, box, panel.y_label, left)]
    data: list[str] = []
    covered: list[Place] = []
    dashed: list[list[Place]] = []
    for reference in panel.references:
        ends = [(x(a), y(b)) for a, b in zip(reference.x, reference.y, strict=True)]
        dashed.append([place for place in ends if all(map(isfinite, place))])
    style = f'fill="none" stroke="{SOFT}" stroke-width="1.2" stroke-dasharray="3 3"'
    parts += _clipped([f'<path d="{_through(places)}" {style}/>' for places in dashed if len(places) > 1], box, 0.0)
    for line in panel.lines:
        colour = colours[line.name]
        drawn, places = _line(line, x, y, colour) if isinstance(line, Line) else _bars(line, x, y, colour)
        data += drawn
        covered += places
    parts += _clipped(data, box)
    covered += [place for places in dashed for place in _filled(places, 2.0)]
    for reference, places in zip(panel.references, dashed, strict=True):
        parts += _label(reference.label, _filled(places), box, covered)
    return parts


def _label(words: str, along: Sequence[Place], box: Box, covered: list[Place]) -> list[str]:
    """Write a label beside a line, where it covers least of what is drawn; what it covers then counts as drawn."""
    best: tuple[int, float, float] | None = None
    width = _width_of(words, 11)
    for (a, b), aside, down in product(along, (3.0, -3.0 - width, -width / 2), (-5.0, 13.0)):
        left, base = a + aside, b + down
        if left < box.left + 3 or left + width > box.right - 2 or base < box.top + 10 or base > box.bottom - 4:
            continue
        cost = sum(left - 2 <= c <= left + width + 2 and base - 10 <= d <= base + 3 for c, d in covered)
        if best is None or cost < best[0]:
            best = cost, left, base
    if best is None:
        return []
    _, left, base = best
    covered += [(left + width * i / 8, base - 8 + 4 * j) for i in range(9) for j in range(3)]
    halo = ' paint-order="stroke" stroke="white" stroke-width="3" stroke-linejoin="round"'
    return [_words(left, base, words, colour=SOFT, size=11, more=halo)]


def _draw_dots(panel: DotPanel, box: Box, colours: Mapping[str, str]) -> list[str]:
    values = [part for row in panel.rows for dot in row.dots for part in (dot.value, dot.low, dot.high)]
    low, high = _limits([*values, *([] if panel.rule is None else [panel.rule])], panel.x_range, log=False, pad=True)
    x = Axis(0.0 if panel.root_x else low, high, "root" if panel.root_x else "linear", box.left, box.right)
    parts = _x_axis(x, box, panel.x_label, percent=panel.percent)
    if panel.rule is not None and x.shows(panel.rule):
        at = x(panel.rule)
        parts.append(_segment((at, box.top), (at, box.bottom), INK, 1.2, ' stroke-dasharray="4 3"'))
        words = min(max(at, box.left + _width_of(panel.rule_label) / 2), box.right - _width_of(panel.rule_label) / 2)
        parts.append(_words(words, box.top - 5, panel.rule_label, anchor="middle", colour=SOFT))
    data: list[str] = []
    top = box.top + 4.0
    for i, row in enumerate(panel.rows):
        height = _row_height(row)
        middle = top + height / 2
        if i % 2 == 0:
            parts.insert(
                0,
                f'<rect x="{box.left:.1f}" y="{top:.1f}" width="{box.right - box.left:.1f}" height="{height:.1f}"'
                ' fill="#f7f8f9"/>',
            )
        parts.append(_words(box.left - 8, middle + 4, row.label, anchor="end"))
        for j, dot in enumerate(row.dots):
            down = middle + PITCH * (j - (len(row.dots) - 1) / 2)
            at, ends, colour = x(dot.value), (x(dot.low), x(dot.high)), colours[dot.name]
            if all(isfinite(end) for end in ends):
                data.append(_segment((ends[0], down), (ends[1], down), colour, 1.6))
                data += [_segment((end, down - 3), (end, down + 3), colour, 1.6) for end in ends]
            if isfinite(at):
                data.append(_circle((at, down), colour, 3.4))
        top += height
    return parts + _clipped(data, box)


# --- the chart


def _legend(panels: Sequence[AnyPanel]) -> dict[str, tuple[bool, bool]]:
    """Name -> (whether it is a line, whether it is dashed), in order of first appearance; what is empty is left out."""
    found: dict[str, tuple[bool, bool]] = {}
    for panel in panels:
        if isinstance(panel, DotPanel):
            for row in panel.rows:
                for dot in row.dots:
                    found.setdefault(dot.name, (False, False))
            continue
        for line in panel.lines:
            if any(isfinite(value) for value in line.y):
                found.setdefault(line.name, (isinstance(line, Line), isinstance(line, Line) and line.dashed))
    return found


def _legend_rows(wide: Mapping[str, float], limit: float) -> list[list[str]]:
    """Names in rows of at most so many pixels, or of one name."""
    rows: list[list[str]] = [[]]
    for name in wide:
        if rows[-1] and sum(wide[other] for other in rows[-1]) + wide[name] > limit:
            rows.append([])
        rows[-1].append(name)
    return rows


def _draw_legend(
    entries: Mapping[str, tuple[bool, bool]], colours: Mapping[str, str], width: float, top: float
) -> tuple[list[str], float]:
    """Samples and names in centred rows; and the height that they take."""
    wide = {name: _width_of(name) + 46 for name in entries}
    most = width - 2 * EDGE
    # as few rows as fit, and then as even as they can be with no more rows
    limits = [most * share / 20 for share in range(1, 21)]
    fewest = len(_legend_rows(wide, most))
    rows = next(rows for limit in limits if len(rows := _legend_rows(wide, limit)) <= fewest)
    parts: list[str] = []
    for i, row in enumerate(rows):
        left = (width - sum(wide[name] for name in row) + 14) / 2
        y = top + 20 * i + 12
        for name in row:
            is_line, dashed = entries[name]
            if is_line:
                dash = ' stroke-dasharray="6 4"' if dashed else ""
                parts.append(_segment((left, y - 4), (left + 24, y - 4), colours[name], 2.4, dash))
            else:
                parts.append(_segment((left + 4, y - 4), (left + 20, y - 4), colours[name], 1.6))
                parts.append(_circle((left + 12, y - 4), colours[name], 3.4))
            parts.append(_words(left + 29, y, name))
            left += wide[name]
    return parts, 20.0 * len(rows) if entries else 0.0


def chart(
    panels: Sequence[AnyPanel],
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
        Inside the axes of a line panel, in pixels; dot panels are as high as their rows.
    """
    entries = _legend(panels)
    chosen = dict(colours or {})
    free = [colour for colour in PALETTE if colour not in chosen.values()]
    names = {line.name for panel in panels if isinstance(panel, Panel) for line in panel.lines} - set(entries)
    for i, name in enumerate(name for name in (*entries, *sorted(names)) if name not in chosen):
        chosen[name] = (free or list(PALETTE))[i % len(free or PALETTE)]
    columns = min(max(1, columns), max(1, len(panels)))
    rows = [list(panels[i : i + columns]) for i in range(0, len(panels), columns)]
    rooms = [max((_left_room(row[j], height) for row in rows if j < len(row)), default=0.0) for j in range(columns)]
    wide = (width - EDGE - GAP * columns - sum(rooms)) / columns
    parts: list[str] = []
    top = float(EDGE)
    for row in rows:
        ruled = any(isinstance(panel, DotPanel) and panel.rule is not None for panel in row)
        above = 40.0 if ruled else 26.0
        tall = max(_inner_height(panel, height) for panel in row)
        left = float(EDGE)
        for j, panel in enumerate(row):
            start = left + rooms[j]
            box = Box(start, top + above, start + wide, top + above + _inner_height(panel, height))
            more = ' font-weight="bold"'
            parts.append(_words(start, top + 14, panel.title, size=TITLE_SIZE, more=more))
            drawn = _draw_dots(panel, box, chosen) if isinstance(panel, DotPanel) else _draw_panel(panel, box, chosen)
            parts += drawn
            left = start + wide + GAP
        top += above + tall + 50
    legend, used = _draw_legend(entries, chosen, width, top)
    total = top + used + EDGE - 4
    spoken = title or "; ".join(panel.title for panel in panels)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {total:.0f}" width="{width:g}"'
            f' height="{total:.0f}" role="img" aria-label={quoteattr(spoken)}'
            ' font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(spoken)}</title>",
            f'<rect width="{width:g}" height="{total:.0f}" rx="8" fill="white"/>',
            *parts,
            *legend,
            "</svg>",
            "",
        ]
    )
