#!/usr/bin/env python3
"""Start Bertscope, test it, train with it: `python3 run.py [command]`, with nothing installed but Python 3.11+.

app          the browser laboratory (the default)
strategies   train small models under each masking strategy, and compare them
test         lint, format, types and all tests
train        pre-train a BERT on your own text
evaluate     scores of a checkpoint on held-out documents
finetune     one added output layer: teach a checkpoint your own labels
probe        what each layer knows: probes with their baselines
smallworld   stories with planted truth, their trees, and the best that can be learned from them
handout      a model as one HTML file that needs no server
rehearse     simulated students on this machine: will it do for a class?
bench        side by side with the tools people use today
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "bertscope.json"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# command -> the module that does it, the requirement files it needs
COMMANDS = {
    "app": ("app", ["requirements.txt"]),
    "train": ("model.train", ["requirements.txt"]),
    "evaluate": ("model.evaluate", ["requirements.txt"]),
    "strategies": ("probes.masking_strategies", ["requirements.txt"]),
    "probe": ("probes.probing", ["requirements.txt"]),
    "finetune": ("probes.finetuning", ["requirements.txt"]),
    "smallworld": ("model.smallworld", ["requirements.txt"]),
    "handout": ("app.browser", ["requirements.txt"]),
    "rehearse": ("app.rehearsal", ["requirements.txt"]),
    "bench": ("bench", ["requirements.txt", "requirements-dev.txt"]),
}


def main() -> int:
    argv = sys.argv[1:]
    command = argv.pop(0) if argv and not argv[0].startswith("-") else "app"
    if command == "test":
        if argv in (["-h"], ["--help"]):
            print("python3 run.py test [pytest options]\n\nLint, format, types and all tests; options go to pytest.")
            return 0
        install("requirements.txt", "requirements-dev.txt")
        return test(argv)
    if command not in COMMANDS or (argv[:1] in (["-h"], ["--help"]) and command == "app" and len(sys.argv) == 2):
        parser = argparse.ArgumentParser(
            usage="python3 run.py [command] [options]",
            description=__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.epilog = "python3 run.py COMMAND --help says more about each."
        parser.print_help()
        return 0 if command in COMMANDS else 2
    module, files = COMMANDS[command]
    install(*files)
    # relative paths begin where the user stands; -P: no file that lies there is taken for one of ours
    search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return run(PYTHON, "-P", "-m", module, *argv, cwd=None, environment=os.environ | {"PYTHONPATH": search_path})


def install(*files: str) -> None:
    """Create the environment and install the requirement files, unless these very files are installed."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets this far, and a sentence
        sys.exit(f"Bertscope needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    installed = json.loads(STAMP.read_text()) if STAMP.is_file() else {}
    digests = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in files}
    if PYTHON.exists() and all(installed.get(name) == digest for name, digest in digests.items()):
        return
    if not PYTHON.exists():
        log(f"Creating {ENVIRONMENT.name} with Python {sys.version.split()[0]}")
        try:
            venv.create(ENVIRONMENT, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            sys.exit(
                f"Python could not create a virtual environment ({error}). "
                "On Debian and Ubuntu: apt-get install python3-venv"
            )
    log(f"Installing {', '.join(files)} (the first time takes a few minutes)")
    requirements = [word for name in files for word in ("-r", str(ROOT / name))]
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements):
        sys.exit(
            "The installation did not finish: read the lines above; mostly it is the network or a full disk. "
            "Nothing is lost; run the same command again."
        )
    STAMP.write_text(json.dumps(installed | digests, indent=2) + "\n")


def test(argv: list[str]) -> int:
    """Lint, format, types, tests; the first that fails decides."""
    environment = os.environ | {"BERTSCOPE_CHROMIUM": browser()}
    started = time.monotonic()
    for name, command in (
        ("Lint", ["-m", "ruff", "check", "."]),
        ("Format", ["-m", "ruff", "format", "--check", "."]),
        ("Types", ["-m", "pyright", "--level", "error"]),
        ("Tests", ["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *argv]),
    ):
        log(name)
        code = run(PYTHON, *command, environment=environment)
        if code:
            return code
    log(f"All passed in {time.monotonic() - started:.0f} s")
    return 0


def browser() -> str:
    """The path of a Chromium, installed by Debian's package manager or by Playwright where there is none."""
    path = os.environ.get("BERTSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path:
        return path
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        log("Installing Debian's chromium for the browser tests")
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core")
        path = shutil.which("chromium")
        if path:
            return path
    log("Installing Playwright's Chromium for the browser tests")
    if run(PYTHON, "-m", "playwright", "install", "chromium"):
        sys.exit("There is no Chromium for the browser tests: install one, or name it in BERTSCOPE_CHROMIUM.")
    source = "from playwright.sync_api import sync_playwright as p\nwith p() as q: print(q.chromium.executable_path)"
    return subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, check=True).stdout.strip()


def run(*command, cwd: Path | None = ROOT, environment: Mapping[str, str] = os.environ) -> int:
    process = subprocess.Popen([str(word) for word in command], cwd=cwd, env=environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # nobody is left behind: an app ends, a training saves
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the child received the same signal; it ends in its own way, a training after saving


def log(text: str) -> None:
    print(f"· {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
