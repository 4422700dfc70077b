"""An address as a picture that a phone's camera reads."""

from html import escape

import segno


def image(address: str) -> str:
    """The QR code as an image element, dark on light in any theme, with the quiet zone that cameras need."""
    picture = segno.make(address, error="m", micro=False).svg_data_uri(scale=5, border=4, dark="#17212b", light="#ffffff")
    return f'<img class="qr-code" src="{escape(picture)}" alt="QR code of {escape(address)}">'
