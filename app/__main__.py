"""`python -m app`: starts the server with the settings of streamlit_config.toml and prints its address."""

import argparse
import os
import socket
import sys
import threading
import time
import tomllib
import webbrowser
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from app import processes
from app.folders import CODE, HOME, SETTINGS

MOST_PROCESSES = 64


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 run.py app" if HOME == CODE else "bertscope app", description="Start the browser laboratory."
    )
    parser.add_argument("--port", type=int, default=8501, help="default: 8501, or the next one that is free")
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only; 0.0.0.0 lets a class join")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    parser.add_argument(
        "--models",
        metavar="DIR",
        type=Path,
        default=HOME / "checkpoints",
        help="a folder of checkpoints to offer (default: checkpoints)",
    )
    parser.add_argument(
        "--lessons",
        metavar="DIR",
        type=Path,
        default=HOME / "lessons",
        help="a folder of lessons of your own (default: lessons)",
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=int,
        default=1,
        help="run N processes of the app on the ports after this one, and share the readers among them (default: 1)",
    )
    parser.add_argument("--hub", action="store_true", help="allow loading models by their Hugging Face name")
    args = parser.parse_args(argv)
    if not 1 <= args.processes <= MOST_PROCESSES:
        parser.error(f"--processes {args.processes}: from 1 to {MOST_PROCESSES}, at best as many as there are cores")
    for option, folder, usual in (("models", args.models, "checkpoints"), ("lessons", args.lessons, "lessons")):
        if folder != HOME / usual and not folder.is_dir():
            parser.error(f"--{option} {folder}: there is no such folder")
    return args


def options(settings: dict, prefix: str = "") -> dict[str, object]:
    """Nested settings by Streamlit's dotted names: {"section.name": value}."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        flat |= options(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat


def free(host: str, port: int) -> int:
    """The port, or the first free one of the twenty after it."""
    for candidate in range(port, port + 20):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")
            try:
                probe.bind((host, candidate))
            except OSError:
                continue
            return candidate
    print(f"Ports {port} to {port + 19} of {host} are all taken: name another with --port.", file=sys.stderr)
    sys.exit(2)


def announce(address: str, health: str, show: bool) -> None:
    """Say the address once the server answers, and open it."""
    while True:
        try:
            with urlopen(health, timeout=1):
                break
        except (URLError, OSError):
            time.sleep(0.05)
    print(f"\n  Bertscope is at {address}\n  Stop it with Ctrl-C.\n", flush=True)
    if show:
        webbrowser.open(address)


def main() -> None:
    args = arguments()
    port = free(args.host, args.port)
    here = "localhost" if args.host in ("0.0.0.0", "127.0.0.1", "::", "::1") else args.host
    address = f"http://{here}:{port}"
    os.environ["BERTSCOPE_MODELS"] = str(args.models.resolve())
    os.environ["BERTSCOPE_LESSONS"] = str(args.lessons.resolve())
    os.environ["BERTSCOPE_HUB"] = "1" if args.hub else ""
    # readers share the cores: a thread that waits long for another must sleep, not spin (ten times slower otherwise);
    # but one that always sleeps at once trains a tiny model a fourth slower. Here and not in model.kernels, which is
    # the home of such tricks: torch reads these once, while it is imported
    if os.environ.get("BERTSCOPE_PLAIN", "") in ("", "0"):
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    # model downloads must not call home either
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    settings = options(tomllib.loads(SETTINGS.read_text(encoding="utf-8")))
    behind_a_door = processes.door() is not None  # then the door says where it is
    if not behind_a_door:
        threading.Thread(
            target=announce, daemon=True, args=(address, f"{address}/_stcore/health", not args.no_browser)
        ).start()
        print("Starting Bertscope ...", flush=True)
    else:
        processes.end_with_the_door()
    if args.processes > 1:
        _share(args, port)
        return
    from app import jobs, navigation, server, session, theme_message

    # every page is imported before the first reader comes, and what is imported is never looked through again
    assert navigation.PAGES
    theme_message.keep()
    session.warm_up()
    jobs.watch()
    server.build().run(config=settings | {"server.port": port, "server.address": args.host})


def _share(args: argparse.Namespace, port: int) -> None:
    """Several processes behind one address."""
    ports: list[int] = []
    for _ in range(args.processes):
        ports.append(free(args.host, (ports or [port])[-1] + 1))
    options = ["--host", args.host, "--no-browser", "--models", str(args.models), "--lessons", str(args.lessons)]
    processes.serve(args.host, port, ports, options + (["--hub"] if args.hub else []))


if __name__ == "__main__":
    main()
