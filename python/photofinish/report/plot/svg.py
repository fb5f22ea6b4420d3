"""SVG from plain text: every attribute and every text is escaped, every coordinate has one decimal."""

from dataclasses import dataclass, field

from markupsafe import Markup, escape


def at(value: float) -> str:
    """A coordinate, rounded so that equal plots are equal bytes."""
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text


@dataclass(slots=True)
class Drawing:
    """Collects the elements of one drawing."""

    width: float
    height: float
    title: str
    description: str
    name: str
    """Unique within the page; ids are made from it."""
    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line."""
        self.parts.append(f'<line x1="{at(x1)}" y1="{at(y1)}" x2="{at(x2)}" y2="{at(y2)}" class="{escape(style)}"/>')

    def text(self, x: float, y: float, text: str, style: str, anchor: str = "start") -> None:
        """A text whose base line is at ``y``."""
        self.parts.append(
            f'<text x="{at(x)}" y="{at(y)}" class="{escape(style)}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def dot(self, x: float, y: float, radius: float, style: str, hint: str) -> None:
        """A dot with a text that appears under the pointer."""
        self.parts.append(
            f'<circle cx="{at(x)}" cy="{at(y)}" r="{at(radius)}" class="{escape(style)}"><title>{escape(hint)}</title></circle>'
        )

    def band(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """A filled rectangle."""
        box = f'x="{at(x)}" y="{at(y)}" width="{at(width)}" height="{at(height)}"'
        self.parts.append(f'<rect {box} class="{escape(style)}"/>')

    def path(self, points: list[tuple[float, float]], style: str, hint: str) -> None:
        """A line through all points."""
        steps = "L".join(f"{at(x)} {at(y)}" for x, y in points)
        self.parts.append(f'<path d="M{steps}" class="{escape(style)}"><title>{escape(hint)}</title></path>')

    def markup(self) -> Markup:
        """The whole element, named for screen readers; the table beside it carries the figures."""
        head = (
            f'<svg viewBox="0 0 {at(self.width)} {at(self.height)}" role="img" '
            f'aria-labelledby="{escape(self.name)}-title {escape(self.name)}-desc">'
            f'<title id="{escape(self.name)}-title">{escape(self.title)}</title>'
            f'<desc id="{escape(self.name)}-desc">{escape(self.description)}</desc>'
        )
        return Markup(head + "".join(self.parts) + "</svg>")  # noqa: S704 - every part is escaped above
