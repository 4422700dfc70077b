"""The address under which the devices of a room reach this server."""

import socket
from urllib.parse import urlsplit

EVERYWHERE = ("0.0.0.0", "::")
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
DOCUMENTATION = ("192.0.2.1", 9)  # an address that belongs to nobody: only the way to it is looked up, nothing is sent


def room_address(url: str, host: str) -> str | None:
    """The server's address for others, from the one a page was opened at and the host it listens on; None if it has none."""
    parts = urlsplit(url)
    if parts.hostname not in THIS_MACHINE:
        return f"{parts.scheme}://{parts.netloc}"
    own = _own_address() if host in EVERYWHERE else None
    return own and f"{parts.scheme}://{own}:{parts.port}"


def _own_address() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(DOCUMENTATION)
        except OSError:  # no network at all
            return None
        return probe.getsockname()[0]
