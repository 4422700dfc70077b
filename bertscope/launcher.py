"""What run.py does in a clone: make .venv, install, start; with nothing but Python, and one sentence for what is missing."""

import argparse
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bertscope.commands import COMMANDS, help_text, version
from bertscope.process import print_anywhere, run, run_module

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "bertscope.json"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
APP, DEVELOPMENT = "requirements.txt", "requirements-dev.txt"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TORCH = "BERTSCOPE_TORCH"  # auto, cpu, default or the address of a package index, as `install --torch`
NVIDIA = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"), Path("/dev/dxg"))
FREE_GIGABYTES = 3  # of the disk, below which an installation is not begun
HEARTBEAT = 5  # seconds between two lines about a package that takes long
SIZES = "the environment takes 1.8 GB with PyTorch's CPU build, 3.7 GB more with CUDA"
AGAIN = "Nothing is lost; run the same command again."

# what pip says -> what to do about it; the first that matches counts, so the more particular stand first
CAUSES = (
    (
        r"No space left on device|Errno 28\b|not enough space on the disk|Errno 122\b",
        f"The disk is full: {SIZES}. {AGAIN}",
    ),
    (
        r"Read-only file system|Permission denied|Access is denied|Errno 13\b|Errno 30\b",
        f"{ROOT} cannot be written: copy the folder to a place of yours and start it there.",
    ),
    (
        r"ProxyError|Cannot connect to proxy|Tunnel connection failed|Proxy Authentication Required",
        "The proxy named in HTTPS_PROXY or in pip's settings does not let pip through: correct it, or unset it where "
        f"there is none. {AGAIN}",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError",
        "The certificate of the package index is not trusted here; mostly a proxy that reads along. Name the "
        f"certificate of your network in PIP_CERT. {AGAIN}",
    ),
    (
        r"NameResolutionError|Temporary failure in name resolution|getaddrinfo failed|nodename nor servname|"
        r"Network is unreachable|NewConnectionError|Connection refused|Connection reset|ReadTimeout|Read timed out|"
        r"ConnectTimeout|Max retries exceeded",
        f"There is no network to the package index; the first start needs one, later ones do not. {AGAIN}",
    ),
    (
        r"No matching distribution found for (\S+)",
        r"There is no \1 for this Python and this system: Bertscope needs Python 3.11 to 3.13, 64 bits, on Linux, macOS or "
        "Windows.",
    ),
)


def main() -> int:
    print_anywhere()
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(help_text("python3 run.py"))
        return 0
    if words == ["--version"]:
        print(f"Bertscope {version(ROOT)}")
        return 0
    name = words.pop(0) if words and not words[0].startswith("-") else "app"
    if name not in COMMANDS:
        print(help_text("python3 run.py"))
        return 2
    if name == "install":
        return install_command(words)
    if name == "test":
        if words in (["-h"], ["--help"]):
            print("usage: python3 run.py test [pytest options]\n\nLint, format, types and all tests; options go to pytest.")
            return 0
        install(APP, DEVELOPMENT)
        return test(words)
    install(APP, *([DEVELOPMENT] if COMMANDS[name].needs_clone else []))
    return run_module(PYTHON, COMMANDS[name].module, words, ROOT)


def install_command(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 run.py install", description="Make .venv and install what is needed, without starting anything."
    )
    parser.add_argument(
        "--torch",
        metavar="BUILD",
        default=os.environ.get(TORCH, "auto"),
        help="cpu: PyTorch's smaller build without CUDA, from the package indexes that pip knows; default: the build that "
        "the index gives; an address: the package index to take PyTorch from, as PyTorch's install page names it; auto (the "
        f"default): cpu on Linux without an NVIDIA card, where an index has it. The variable {TORCH} says the same",
    )
    parser.add_argument("--dev", action="store_true", help="with what the tests need")
    args = parser.parse_args(words)
    os.environ[TORCH] = args.torch
    install(APP, *([DEVELOPMENT] if args.dev else []))
    log(f"Installed in {ENVIRONMENT}")
    return 0


def install(*files: str) -> None:
    """Create the environment and install the requirement files, unless these very files are installed."""
    installed = json.loads(STAMP.read_text(encoding="utf-8")) if STAMP.is_file() else {}
    digests = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in files}
    if PYTHON.exists() and all(installed.get(name) == digest for name, digest in digests.items()):
        return
    try:
        if not PYTHON.exists():
            create_environment()
        choose_torch()
        total = sum(count_requirements(ROOT / name) for name in files)
        log(f"Installing {total} packages of {' and '.join(files)} (the first time takes a few minutes)")
        pip([word for name in files for word in ("-r", str(ROOT / name))], total)
        STAMP.write_text(json.dumps({**installed, **digests}, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        sys.exit(sentence(error))


def create_environment() -> None:
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < FREE_GIGABYTES:
        sys.exit(f"{free:.1f} GB are free on the disk of {ROOT}; {SIZES}.")
    log(f"Creating {ENVIRONMENT.name} with Python {sys.version.split()[0]}")
    try:
        import venv

        venv.create(ENVIRONMENT, with_pip=True)
    except (ImportError, subprocess.CalledProcessError) as error:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        sys.exit(
            f"This Python cannot make a virtual environment ({error}). "
            "On Debian and Ubuntu: apt-get install python3-venv; elsewhere install Python from its own site."
        )
    except OSError:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        raise


def choose_torch() -> None:
    """Install torch's CPU build first where that is wanted and to be had; the pinned version then counts as installed."""
    build = os.environ.get(TORCH, "auto")
    if build == "default" or (build == "auto" and (not sys.platform.startswith("linux") or has_nvidia())):
        return
    pin = torch_pin()
    if "://" in build:
        log(f"Taking torch from {build}, as {TORCH} or --torch says")
        pip(["--index-url", build, pin], 1)
        return
    log(f"No NVIDIA card here: looking for torch's CPU build, which is smaller ({TORCH}=default takes the other)")
    code, _ = pip_lines(["--no-deps", f"{pin}+cpu"], 1)
    if code == 0:
        return
    advice = f"PyTorch's install page names the index of its CPU builds; {TORCH}=ADDRESS takes torch from there"
    if build == "cpu":
        sys.exit(f"No package index that pip knows has {pin}+cpu. {advice}.")
    log(f"No package index that pip knows has it, so the default build is installed, with CUDA. {advice}")


def has_nvidia() -> bool:
    """Whether a driver of an NVIDIA card is there, by its files or by its own tool."""
    return any(path.exists() for path in NVIDIA) or shutil.which("nvidia-smi") is not None


def torch_pin() -> str:
    text = (ROOT / APP).read_text(encoding="utf-8")
    return next(line.split()[0] for line in text.splitlines() if line.startswith("torch=="))


def count_requirements(file: Path) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return sum(bool(line.strip()) and not line.startswith("#") for line in lines)


def pip(words: list[str], total: int) -> None:
    """Install, or end with the one sentence that says why not."""
    code, lines = pip_lines(words, total)
    if code:
        print("\n".join(lines[-12:]), file=sys.stderr)
        sys.exit(explain("\n".join(lines)))


def pip_lines(words: list[str], total: int) -> tuple[int, list[str]]:
    """pip's exit code and what it printed; meanwhile one line says how far it is."""
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *words]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    )
    assert process.stdout is not None
    lines: list[str] = []
    progress = Progress(total)
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            progress.show(line)
        return process.wait(), lines
    except KeyboardInterrupt:
        process.wait()
        sys.exit(f"\nStopped. {AGAIN}")
    finally:
        progress.end()


class Progress:
    """pip's lines as one line of ours: drawn over again on a terminal, now and then in a file."""

    def __init__(self, total: int):
        self.total, self.count, self.last = total, 0, 0.0
        self.live = sys.stdout.isatty()

    def show(self, line: str) -> None:
        package = re.match(r"(?:Collecting|Requirement already satisfied:|Processing \S*[/\\]) ?([\w.-]+)", line)
        size = re.match(r"\s*Downloading (\S+) \(([^)]+)\)", line)
        if package:
            self.count += 1
            self._print(f"{min(self.count, self.total)} of {self.total}  {package[1]}", always=False)
        elif size:
            self._print(f"{min(self.count, self.total)} of {self.total}  {size[1]}, {size[2]}", always="GB" in size[2])
        elif line.startswith("Installing collected packages"):
            self._print("Unpacking all of them", always=True)

    def _print(self, text: str, always: bool) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{('· ' + text)[:width]}", end="", flush=True)
        elif always or time.monotonic() - self.last > HEARTBEAT:
            self.last = time.monotonic()
            log(text)

    def end(self) -> None:
        if self.live:
            print("\r\033[K", end="", flush=True)


def explain(output: str) -> str:
    """The one sentence for what pip printed before it failed."""
    for pattern, advice in CAUSES:
        match = re.search(pattern, output)
        if match:
            return match.expand(advice) if match.groups() else advice
    return f"The installation did not finish; pip's own words are above. {AGAIN}"


def sentence(error: OSError) -> str:
    """The one sentence for what the system refused."""
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return f"The disk of {ROOT} is full: {SIZES}. {AGAIN}"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{ROOT} cannot be written: copy the folder to a place of yours and start it there."
    return f"The installation did not finish: {error}. {AGAIN}"


def test(argv: list[str]) -> int:
    """Lint, format, types, tests; the first that fails decides."""
    environment = {"BERTSCOPE_CHROMIUM": browser()}
    if not shutil.which("haproxy"):
        debian_install("haproxy")
    started = time.monotonic()
    for name, command in (
        ("Lint", ["-m", "ruff", "check", "."]),
        ("Format", ["-m", "ruff", "format", "--check", "."]),
        ("Types", ["-m", "pyright", "--level", "error"]),
        ("Tests", ["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *argv]),
    ):
        log(name)
        code = run(PYTHON, *command, cwd=ROOT, **environment)
        if code:
            return code
    log(f"All passed in {time.monotonic() - started:.0f} s")
    return 0


def debian_install(*packages: str) -> None:
    """Install what the tests need where Debian's package manager is there and we may use it."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        log(f"Installing Debian's {' and '.join(packages)} for the tests")
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def browser() -> str:
    """The path of a Chromium, installed by Debian's package manager or by Playwright where there is none."""
    path = os.environ.get("BERTSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path:
        return path
    debian_install("chromium", "fonts-dejavu-core")
    path = shutil.which("chromium")
    if path:
        return path
    log("Installing Playwright's Chromium for the browser tests")
    if run(PYTHON, "-m", "playwright", "install", "chromium"):
        sys.exit("There is no Chromium for the browser tests: install one, or name it in BERTSCOPE_CHROMIUM.")
    source = "from playwright.sync_api import sync_playwright as p\nwith p() as q: print(q.chromium.executable_path)"
    return subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, check=True).stdout.strip()


def log(text: str) -> None:
    print(f"· {text}", flush=True)
