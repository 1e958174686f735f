"""Plots as pictures: what is sent is decoded, pixel by pixel, and no key is lost while the terminal is asked."""

import base64
import io
import re

import pytest
from PIL import Image

PLOT = ":plot {i * i : i in [0:40]}"
QUESTION = b"\x1b[c"
WITH_SIXELS, WITHOUT = "\x1b[?62;4;22c", "\x1b[?62;22c"
KITTY = {"KITTY_WINDOW_ID": "1"}
WHITE, BLUE = (255, 255, 255), (0, 114, 178)


def kitty(output):
    """The images that are sent by kitty's protocol."""
    images, text = [], b""
    for keys, piece in re.findall(rb"\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\", output):
        known = dict(key.split("=") for key in keys.decode().split(","))
        assert len(piece) <= 4096 and known["q"] == "2", known
        if not text:
            assert (known["a"], known["f"]) == ("T", "100"), known
        else:
            assert set(known) == {"q", "m"}, known
        text += piece
        if known["m"] == "0":
            image = Image.open(io.BytesIO(base64.b64decode(text, validate=True)))
            image.load()
            images.append(image.convert("RGB"))
            text = b""
    assert not text, "an image is not whole"
    return images


def sixels(output):
    """The images that are sent as sixels."""
    return [decoded(body.decode("ascii")) for body in re.findall(rb"\x1bP0;1;0q([^\x1b]*)\x1b\\", output)]


def decoded(body):
    """An image from its sixels."""
    width, height = map(int, re.match(r'"1;1;(\d+);(\d+)', body).groups())
    body = body[body.index("#") :]
    image, colors, color, x, y = Image.new("RGB", (width, height), (1, 2, 3)), {}, None, 0, 0
    pixels = image.load()
    at = 0
    while at < len(body):
        if defined := re.compile(r"#(\d+);2;(\d+);(\d+);(\d+)").match(body, at):
            number, *parts = map(int, defined.groups())
            assert number < 256 and max(parts) <= 100
            colors[number] = tuple(round(part * 2.55) for part in parts)
            at = defined.end()
        elif chosen := re.compile(r"#(\d+)").match(body, at):
            color = colors[int(chosen[1])]
            at = chosen.end()
        elif body[at] == "$":
            x, at = 0, at + 1
        elif body[at] == "-":
            x, y, at = 0, y + 6, at + 1
        else:
            count, bits = re.compile(r"(?:!(\d+))?([?-~])").match(body, at).groups()
            for column in range(x, x + int(count or 1)):
                for row in range(6):
                    if (ord(bits) - 63) >> row & 1:
                        # None lies outside, and none is painted twice.
                        assert pixels[column, y + row] == (1, 2, 3)
                        pixels[column, y + row] = color
            x += int(count or 1)
            at += len(count) + 2 if count else 1
    assert (1, 2, 3) not in {color for _, color in image.getcolors(1 << 24)}, "every pixel is painted"
    return image


def near(a, b):
    return all(abs(x - y) < 30 for x, y in zip(a, b))


def is_the_plot(image):
    """Checks that an image shows a line that rises from the lower left to the upper right."""
    width, height = image.size
    assert 600 <= width <= 640 and 350 <= height <= 400, image.size
    blue = [(x, y) for x in range(width) for y in range(height) if near(image.getpixel((x, y)), BLUE)]
    assert len(blue) > 300, len(blue)
    (left, bottom), (right, top) = min(blue), max(blue)
    assert left < 100 < 580 < right and top < 60 < 250 < bottom, blue
    assert near(image.getpixel((width // 2, 30)), WHITE)


def asked(session):
    """Enters a plot, and waits until the terminal is asked."""
    session.ready()
    before = session.mark()
    session.send(PLOT + "\r")
    session.wait("question", lambda: QUESTION in session.output[before:])
    return before


def test_kittys_protocol(start):
    session = start(environment=KITTY).ready()
    before = session.mark()
    session.send(PLOT + "\r")
    session.wait("an image", lambda: b"m=0;" in session.output[before:])
    session.ready()
    [image] = kitty(session.output[before:])
    is_the_plot(image)
    assert QUESTION not in session.output
    # The value is `it`, as ever, and the session goes on.
    assert session.say("#it") == ["it = 40 : int"]


def test_sixels(terminal):
    before = asked(terminal)
    terminal.send(WITH_SIXELS)
    terminal.wait("an image", lambda: b"\x1b\\" in terminal.output[before:])
    terminal.ready()
    [image] = sixels(terminal.output[before:])
    is_the_plot(image)
    # It is asked once.
    before = terminal.mark()
    terminal.send(":heatmap {{float(i * j) : j in [0:50]} : i in [0:40]}\r")
    terminal.wait("an image", lambda: b"\x1b\\" in terminal.output[before:])
    terminal.ready()
    [image] = sixels(terminal.output[before:])
    assert len(image.getcolors(1 << 24)) > 60
    assert QUESTION not in terminal.output[before:]


@pytest.mark.parametrize("answer", [WITHOUT, ""])
def test_text_where_there_are_no_pictures(terminal, answer):
    before = asked(terminal)
    terminal.send(answer)
    terminal.sees("⡠")
    terminal.ready()
    assert b"\x1bP" not in terminal.output[before:] and b"\x1b_G" not in terminal.output[before:]
    assert terminal.say("1 + 41") == ["it = 42 : int"]


@pytest.mark.parametrize("answer", [WITH_SIXELS, WITHOUT, ""])
def test_keys_that_come_with_the_answer_are_not_lost(terminal, answer):
    asked(terminal)
    terminal.send("first = 40\rsec" + answer + "ond = 2\r")
    terminal.sees("first = 40 : int")
    terminal.sees("second = 2 : int")
    terminal.ready()
    assert terminal.say("first + second") == ["it = 42 : int"]


def test_what_is_typed_ahead_is_not_lost(terminal):
    terminal.send(PLOT + "\rfirst = 40\r" + PLOT + "\rsecond = 2\r")
    terminal.sees("second = 2 : int")
    terminal.ready()
    assert terminal.say("first + second") == ["it = 42 : int"]


def test_the_terminal_is_not_asked_while_keys_wait(terminal):
    terminal.say("function count(n) = if n == 0 then 0 else count(n - 1)")
    before = terminal.mark()
    # The keys come while the value is computed, and nobody reads them.
    terminal.send(':plot let a = print_line("beg" ++ "un"); b = prompt("") in [0:40]\r')
    terminal.sees("begun")
    terminal.send("go\rkept = 42\r")
    terminal.sees("kept = 42 : int")
    assert QUESTION not in terminal.output[before:]


def test_the_choice_can_be_made(start, tmp_path):
    session = start(environment=KITTY).ready()
    session.say(":set plots text")
    assert any("⡠" in line for line in session.say(PLOT))
    session.say(":set plots svg")
    assert session.say(PLOT) == ["Drew plot-1.svg."]
    before = session.mark()
    session.say(":set plots sixel")
    session.send(PLOT + "\r")
    session.wait("an image", lambda: b"\x1b\\" in session.output[before:])
    session.ready()
    [image] = sixels(session.output[before:])
    is_the_plot(image)
    assert session.say(":set plots") == ["plots sixel"]
    assert "`kitty`" in "\n".join(session.say(":set plots gif"))


def test_no_pictures_without_colours(start):
    session = start(environment={**KITTY, "NO_COLOR": "1"}).ready()
    assert any("⡠" in line for line in session.say(PLOT))
    assert b"\x1b_G" not in session.output
