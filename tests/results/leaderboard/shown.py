"""What a browser would show of a page."""

from html.parser import HTMLParser


class Texts(HTMLParser):
    """Collects what a browser shows, and the names of all elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.names = "", set[str]()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}


def read(html: str) -> Texts:
    """Read a page without a browser."""
    found = Texts()
    found.feed(html)
    return found
