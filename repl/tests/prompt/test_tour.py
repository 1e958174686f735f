"""A tour of the prompt, as pictures: one frame for each scene, drawn from the screen.

The pictures of the README and the book are in `docs/book/src/images`; `NESL_TOUR=docs/book/src/images` writes them
anew.
"""

import io
import os
from pathlib import Path

import pytest
from terminal import COLUMN_PIXELS, ROOT, ROW_PIXELS

FONTS = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono{}.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono{}.ttf",
]
SIZE, MARGIN = 15, 12
GROUND, INK = "#1e1e2e", "#cdd6f4"
COLORS = {
    "default": INK,
    "black": "#45475a",
    "red": "#f38ba8",
    "green": "#a6e3a1",
    "brown": "#f9e2af",
    "yellow": "#f9e2af",
    "blue": "#89b4fa",
    "magenta": "#cba6f7",
    "cyan": "#94e2d5",
    "white": "#bac2de",
    "brightblack": "#7f849c",
}


def font(weight=""):
    """The font, and none where it is not installed."""
    from PIL import ImageFont

    for name in FONTS:
        if Path(name.format(weight)).is_file():
            return ImageFont.truetype(name.format(weight), SIZE)
    return None


def dots(draw, at, size, bits, color):
    """Draws a Braille character, which few fonts have: its eight dots are its bits."""
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    for bit, (column, row) in enumerate(places):
        if bits >> bit & 1:
            x = at[0] + round((column + 0.5) * size[0] / 2)
            y = at[1] + round((row + 0.5) * size[1] / 4)
            draw.ellipse([x - 1, y - 1, x + 1, y + 1], fill=color)


def frame(terminal, path):
    """Draws the screen."""
    from PIL import Image, ImageDraw

    plain, bold = font(), font("-Bold")
    width = round(plain.getlength("M"))
    height = sum(plain.getmetrics()) + 2
    screen = terminal.screen
    # The first row says how to leave.
    first, end = 1, max(y for y, line in enumerate(screen.display) if line.strip()) + 1
    size = (2 * MARGIN + width * screen.columns, 2 * MARGIN + height * (end - first))
    image = Image.new("RGB", size, GROUND)
    draw = ImageDraw.Draw(image)
    for y in range(first, end):
        for x in range(screen.columns):
            cell = screen.buffer[y][x]
            at = (MARGIN + x * width, MARGIN + (y - first) * height)
            if (x, y) == (screen.cursor.x, screen.cursor.y):
                draw.rectangle([at, (at[0] + width - 1, at[1] + height - 1)], fill=COLORS["brightblack"])
            color = COLORS.get(cell.fg, "#" + cell.fg if len(cell.fg) == 6 else INK)
            if "\u2800" < cell.data <= "\u28ff":
                dots(draw, at, (width, height), ord(cell.data) - 0x2800, color)
                continue
            if cell.data == "\u2800":
                continue
            draw.text(at, cell.data, fill=color, font=bold if cell.bold and bold else plain)
    for line, png in terminal.images:
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        size = (round(picture.width * width / COLUMN_PIXELS), round(picture.height * height / ROW_PIXELS))
        y = line - len(screen.history.top) - first
        image.paste(picture.resize(size), (MARGIN, MARGIN + y * height))
    image = image.quantize(64 if terminal.images else 32)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, optimize=True)


SCENES = [
    ("values", ["{[0:i] : i in [0:60]}", "{(i, sqrt(float(i))) : i in [0:100]}"], ""),
    (
        "typing",
        ["xs = [3, 1, 2]", "function total(a) = sum(xs) + a", "xs = 2.5"],
        "function norm(v) =\rsqrt(sum({x * x : x in v}))",
    ),
    ("errors", ["xs = [1, 2, 3]", "y = 2.5", "{x + y : x in xs}"], ""),
    ("plot", [":plot {sin(float(i) / 5.0) : i in [0:64]}"], ""),
    ("picture", [":plot {{sin(float(i * j) / 40.0) : i in [0:256]} : j in [1:4]}"], ""),
]


@pytest.mark.parametrize("name, entries, typed", SCENES)
def test_a_scene(start, name, entries, typed):
    environment = {"KITTY_WINDOW_ID": "1"} if name == "picture" else {}
    session = start(rows=34, columns=84, environment=environment).ready()
    for entry in entries:
        session.say(entry)
    session.send(typed)
    session.settle()
    assert session.text().strip()
    if font() is None:
        pytest.skip("no font to draw with: pictures are not made")
    folder = Path(os.environ.get("NESL_TOUR", ROOT / "target/prompt/tour"))
    path = (ROOT / folder) / f"prompt-{name}.png"
    frame(session, path)
    assert path.stat().st_size > 1000
