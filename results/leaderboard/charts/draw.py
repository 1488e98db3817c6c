"""Pictures drawn by matplotlib: the only code that knows it. It is imported when one is drawn.

Lines and dots are matplotlib's. Texts are set beside them as text elements, so that they can be
selected and searched, and that a label is never read as a formula or needs a font that is here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import pairwise
from threading import Lock
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

from results.leaderboard.charts.clean import COLOURS, POINT, cleaned, coloured
from results.leaderboard.charts.labels import Box, is_far, placed, spread
from results.leaderboard.charts.picture import Axis, Ink, Line, Picture, width_of

LEFT, BOTTOM, TOP = 52, 42, 26
"""Pixels around the axes, for ticks and titles."""
ROWS, ROW = 3, 13
"""Lines for ticks with names, so that those of near places stand below one another; pixels each."""
SIZE, SMALL = 12.0, 11.0
"""Of labels and of ticks, in pixels."""
DOT = 6.5
"""Its width in pixels."""
FONTS = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
"""Of a file that stands alone; a page has its own."""
SPAN = 3000.0
"""A ratio of the ends of an axis below which powers of ten are too few ticks."""

HUGE = 1e5
"""From here on a number is written with a power of ten, so that it fits beside its axis."""

Spot = tuple[float, float]

_ONE_AT_A_TIME = Lock()


def draw(picture: Picture, prefix: str) -> str:
    """Draw a picture: the elements of its SVG, whose names begin with `prefix`."""
    # Not those of a user's own file; settings are global, and matplotlib is not made for threads.
    with _ONE_AT_A_TIME, mpl.rc_context(mpl.rcParamsDefault):
        drawn = _Drawn(picture)
        written = drawn.write()
    root = cleaned(written, prefix)
    root.extend(drawn.texts())
    for number, point in enumerate(picture.points):
        found = root.find(f".//g[@class='{POINT}{number}']")
        if found is not None:
            found.set("class", "point")
            SubElement(found, "title").text = point.hint
    return "".join(ElementTree.tostring(child, "unicode") for child in root)


@dataclass
class _Drawn:
    """A picture on matplotlib's axes."""

    picture: Picture
    axes: Axes = field(init=False)

    def __post_init__(self) -> None:
        picture = self.picture
        self.figure = figure = Figure(figsize=(picture.width / 72, picture.height / 72), dpi=72)
        frame = self.frame
        wide, high = frame.width / picture.width, frame.height / picture.height
        self.axes = figure.add_axes(
            (frame.x / picture.width, frame.y / picture.height, wide, high), facecolor="none"
        )
        figure.patch.set_visible(False)
        self._scale()
        for part in (self._ticks, self._bands, self._lines, self._points):
            part()

    @property
    def frame(self) -> Box:
        wide = self.picture.width - LEFT - self.picture.right
        bottom = BOTTOM + ROW * (ROWS - 1) * bool(self.picture.x.ticks)
        return Box(LEFT, bottom, wide, self.picture.height - bottom - TOP)

    def write(self) -> str:
        written = StringIO()
        self.figure.savefig(written, format="svg", metadata={"Date": None})
        return written.getvalue()

    def _scale(self) -> None:
        x, y = self.picture.x, self.picture.y
        self.axes.set_xscale("log" if x.logarithmic else "linear")
        self.axes.set_yscale("log" if y.logarithmic else "linear")
        self.axes.set_xlim(x.low, x.high)
        self.axes.set_ylim(y.low, y.high)

    def _ticks(self) -> None:
        axes, picture = self.axes, self.picture
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set(color=COLOURS["quiet"], linewidth=1)
        for one, of in ((axes.xaxis, picture.x), (axes.yaxis, picture.y)):
            one.set_major_locator(FixedLocator([tick for tick, _ in ticks(of)]))
            one.set_minor_locator(NullLocator())
        axes.tick_params(labelbottom=False, labelleft=False, color=COLOURS["quiet"], length=4)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", color=COLOURS["line"], linewidth=1)
        axes.set_axisbelow(True)

    def _bands(self) -> None:
        for band in self.picture.bands:
            colour = COLOURS[band.ink]
            self.axes.fill_between(band.xs, band.lows, band.highs, color=colour, alpha=0.2, lw=0)

    def _lines(self) -> None:
        for line in self.picture.lines:
            self.axes.plot(
                line.xs,
                line.ys,
                color=COLOURS[line.ink],
                linewidth=line.width,
                linestyle=(0, (4, 3)) if line.dashed else "-",
                drawstyle="steps-post" if line.steps else "default",
                marker="",
            )

    def _points(self) -> None:
        for point in self.picture.points:
            if point.low is not None and point.high is not None:
                colour = COLOURS[point.ink]
                self.axes.plot([point.x] * 2, [point.low, point.high], "-", color=colour, lw=1.2)
        for number, point in enumerate(self.picture.points):
            self.axes.plot(
                [point.x],
                [point.y],
                "o",
                gid=f"{POINT}{number}",
                markersize=DOT,
                markeredgecolor=COLOURS[point.ink],
                markerfacecolor=COLOURS[point.ink] if point.filled else COLOURS["paper"],
                clip_on=False,
            )

    def spot(self, x: float, y: float) -> Spot:
        """Give a place in pixels, counted from the left lower corner."""
        found = self.axes.transData.transform((x, y))
        return float(found[0]), float(found[1])

    def texts(self) -> Iterator[Element]:
        """Yield all texts, with the lines that lead to them."""
        yield from self._titles()
        yield from self._of_ticks()
        yield from self._of_points()
        yield from self._of_lines()

    def _titles(self) -> Iterator[Element]:
        frame, picture = self.frame, self.picture
        yield self._text(picture.y.title, (8, picture.height - 15), ink="quiet")
        yield self._text(picture.x.title, (frame.x + frame.width, 8), "end", ink="quiet")

    def _of_ticks(self) -> Iterator[Element]:
        frame, picture = self.frame, self.picture
        ends = [0.0] * ROWS
        for tick, text in ticks(picture.x):
            x, half = self.spot(tick, picture.y.low)[0], width_of(text, SMALL) / 2
            row = next((row for row, end in enumerate(ends) if end <= x - half), 0)
            ends[row] = x + half
            yield self._text(text, (x, frame.y - 16 - ROW * row), "middle", SMALL, "quiet")
        for tick, text in ticks(picture.y):
            at = frame.x - 8, self.spot(picture.x.low, tick)[1] - 4
            yield self._text(text, at, "end", SMALL, "quiet")

    def _of_points(self) -> Iterator[Element]:
        points = [one for one in self.picture.points if one.label]
        points.sort(key=lambda one: not one.filled)
        dots = [self.spot(one.x, one.y) for one in points]
        sizes = [(width_of(one.label, SIZE), SIZE + 2) for one in points]
        for point, dot, place in zip(
            points, dots, placed(dots, sizes, list(self._taken()), self.frame), strict=True
        ):
            if place.led:
                yield self._leader(dot, place.led)
            at, anchor = _anchored(place.box, dot)
            yield self._label(point.label, at, "accent" if point.filled else "ink", anchor)

    def _taken(self) -> Iterator[Box]:
        for point in self.picture.points:
            x, y = self.spot(point.x, point.y)
            yield Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT)
            if point.low is not None and point.high is not None:
                low, high = (self.spot(point.x, end)[1] for end in (point.low, point.high))
                yield Box(x - 2, low, 4, high - low)
        for line in self.picture.lines:
            yield from self._along(line)

    def _along(self, line: Line) -> Iterator[Box]:
        """Cover a line of steps, or a level one."""
        spots = [self.spot(x, y) for x, y in zip(line.xs, line.ys, strict=True)]
        for (x, y), (after, height) in pairwise(spots):
            if line.steps or y == height:
                yield Box(x, y - 1, after - x, 2)
                yield Box(after - 1, min(y, height), 2, abs(height - y))

    def _of_lines(self) -> Iterator[Element]:
        lines = [one for one in self.picture.lines if one.label]
        ends = [self.spot(one.xs[-1], one.ys[-1]) for one in lines]
        frame = self.frame
        top = frame.y + frame.height
        heights = spread([y for _, y in ends], SIZE + 2, frame.y, top)
        for line, end, height in zip(lines, ends, heights, strict=True):
            at = frame.x + frame.width + 14, height
            if is_far(end, at):
                yield self._leader(end, (at[0] - 3, at[1]))
            yield self._label(line.label, (at[0], height - 4), line.ink)

    def _label(self, text: str, at: Spot, ink: Ink, anchor: str = "start") -> Element:
        """Set a text with a rim, so that it is read where lines pass behind it."""
        made = self._text(text, at, anchor, ink=ink)
        rim = {"stroke": COLOURS["paper"], "stroke-width": "3", "paint-order": "stroke"}
        made.attrib |= coloured({"fill": COLOURS[ink], **rim})
        return made

    def _text(
        self, text: str, at: Spot, anchor: str = "start", size: float = SIZE, ink: Ink = "ink"
    ) -> Element:
        made = Element(
            "text",
            coloured({"fill": COLOURS[ink]})
            | {
                "x": f"{at[0]:.1f}",
                "y": f"{self.picture.height - at[1]:.1f}",
                "text-anchor": anchor,
                "font-size": f"{size:g}",
                "font-family": FONTS,
            },
        )
        made.text = text
        return made

    def _leader(self, start: Spot, end: Spot) -> Element:
        height = self.picture.height
        ends = {"x1": start[0], "y1": height - start[1], "x2": end[0], "y2": height - end[1]}
        painted = {"stroke": COLOURS["quiet"], "stroke-width": "0.6"}
        return Element(
            "line", coloured(painted) | {name: f"{value:.1f}" for name, value in ends.items()}
        )


def _anchored(box: Box, dot: Spot) -> tuple[Spot, str]:
    """Set a label from the side at which its dot is: its width is an estimate."""
    if box.x >= dot[0]:
        return (box.x, box.y + 4), "start"
    if box.x + box.width <= dot[0]:
        return (box.x + box.width, box.y + 4), "end"
    return (box.x + box.width / 2, box.y + 4), "middle"


def ticks(axis: Axis) -> Sequence[tuple[float, str]]:
    """Give the ticks of an axis: its own, or round numbers between its ends."""
    if axis.ticks:
        return axis.ticks
    if axis.logarithmic:
        few = axis.high / axis.low < SPAN
        found = LogLocator(10, subs=(1, 2, 5) if few else (1,)).tick_values(axis.low, axis.high)
    else:
        found = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(axis.low, axis.high)
    inside = [float(one) for one in found if axis.low <= one <= axis.high]
    return [(one, _round_number(one)) for one in inside]


def _round_number(number: float) -> str:
    return f"{round(number, 12):,.10g}" if abs(number) < HUGE else f"{number:.3g}"
