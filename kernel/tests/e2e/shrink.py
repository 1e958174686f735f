"""Makes a picture smaller: `shrink.py FROM TO` writes it with at most 256 colours, which a picture of a
window hardly has more of."""

import sys

from PIL import Image

LARGEST_BYTES = 100_000


def main(source, target):
    picture = Image.open(source).convert("RGB")
    few = picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(target, optimize=True)
    with open(target, "rb") as file:
        size = len(file.read())
    print(f"{target}: {size:,} bytes")
    return 0 if size <= LARGEST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
