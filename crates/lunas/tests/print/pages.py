"""Draws the pages of a PDF as a printer would. Usage: pages.py FILE.pdf DOTS_PER_INCH

Writes page-<number>.png beside the file, and prints the width and height of each page in millimetres, a page a line."""

import struct
import sys
import zlib
from pathlib import Path

import pypdfium2

POINTS_PER_INCH = 72
MILLIMETRES_PER_INCH = 25.4


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def grey_png(width, height, rows):
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


file, dots = Path(sys.argv[1]), int(sys.argv[2])
for number, page in enumerate(pypdfium2.PdfDocument(file), start=1):
    bitmap = page.render(scale=dots / POINTS_PER_INCH, grayscale=True)
    pixels, stride = bytes(bitmap.buffer), bitmap.stride
    rows = [pixels[row * stride : row * stride + bitmap.width] for row in range(bitmap.height)]
    file.with_name(f"page-{number}.png").write_bytes(grey_png(bitmap.width, bitmap.height, rows))
    print(*(round(points / POINTS_PER_INCH * MILLIMETRES_PER_INCH) for points in page.get_size()))
