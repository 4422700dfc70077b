#!/usr/bin/env python3
"""Start Bertscope, test it, train with it: `python3 run.py [command]`, with nothing installed but Python 3.11+.

    app          the browser laboratory (the default)
    strategies   train small models under each masking mix, and measure them
    test         lint, types and all tests
    train        pre-train a BERT on your own text
    evaluate     ask a checkpoint about held-out documents
    finetune     one added output layer: teach a checkpoint your own labels
    probe        what is written in each layer: probes with their baselines
    smallworld   stories with planted truth, their trees, and the best that can be learned from them
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
    "bench": ("bench", ["requirements.txt", "requirements-dev.txt"]),
}


def main() -> int:
    words = sys.argv[1:]
    command = words.pop(0) if words and not words[0].startswith("-") else "app"
    if command == "test":
        if words in (["-h"], ["--help"]):
            print("python3 run.py test [pytest options]\n\nLint, types and all tests; options go to pytest.")
            return 0
        ready("requirements.txt", "requirements-dev.txt")
        return test(words)
    if command not in COMMANDS or (words[:1] in (["-h"], ["--help"]) and command == "app" and len(sys.argv) == 2):
        parser = argparse.ArgumentParser(usage="python3 run.py [command] [options]", description=__doc__,
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.epilog = "python3 run.py COMMAND --help says more about each."
        parser.print_help()
        return 0 if command in COMMANDS else 2
    module, files = COMMANDS[command]
    ready(*files)
    # where the user stands is where relative paths begin; -P: no file that lies there is taken for one of ours
    places = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return run(PYTHON, "-P", "-m", module, *words, cwd=None, PYTHONPATH=places)


def ready(*files: str) -> None:
    """Make the environment and install what the files name, unless that was done before with the same files."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets this far, and a sentence
        sys.exit(f"Bertscope needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    installed = json.loads(STAMP.read_text()) if STAMP.is_file() else {}
    wanted = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in files}
    if PYTHON.exists() and all(installed.get(name) == digest for name, digest in wanted.items()):
        return
    if not PYTHON.exists():
        say(f"Making {ENVIRONMENT.name} with Python {sys.version.split()[0]}")
        try:
            venv.create(ENVIRONMENT, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            sys.exit(f"Python could not make a virtual environment ({error}). On Debian and Ubuntu: "
                     "apt-get install python3-venv")
    say(f"Installing {', '.join(files)} (the first time takes a few minutes)")
    asked = [word for name in files for word in ("-r", str(ROOT / name))]
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *asked):
        sys.exit("The installation did not finish: read the lines above; mostly it is the network or a full disk. "
                 "Nothing is lost; run the same command again.")
    STAMP.write_text(json.dumps(installed | wanted, indent=2) + "\n")


def test(words: list[str]) -> int:
    """Lint, types, tests; the first that fails decides."""
    environment = {"BERTSCOPE_CHROMIUM": browser()}
    started = time.monotonic()
    for name, command in (("Lint", ["-m", "ruff", "check", "."]), ("Types", ["-m", "pyright", "--level", "error"]),
                          ("Tests", ["-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *words])):
        say(name)
        failed = run(PYTHON, *command, **environment)
        if failed:
            return failed
    say(f"All passed in {time.monotonic() - started:.0f} s")
    return 0


def browser() -> str:
    """The path of a Chromium, installed by Debian's package manager or by Playwright where there is none."""
    found = os.environ.get("BERTSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return found
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        say("Installing Debian's chromium for the browser tests")
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core")
        found = shutil.which("chromium")
        if found:
            return found
    say("Installing Playwright's Chromium for the browser tests")
    if run(PYTHON, "-m", "playwright", "install", "chromium"):
        sys.exit("There is no Chromium for the browser tests: install one, or name it in BERTSCOPE_CHROMIUM.")
    asked = "from playwright.sync_api import sync_playwright as p\nwith p() as q: print(q.chromium.executable_path)"
    return subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def run(*command, cwd: Path | None = ROOT, **environment: str) -> int:
    process = subprocess.Popen([str(word) for word in command], cwd=cwd, env=os.environ | environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # nobody is left behind: an app ends, a training saves
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the terminal told the child too; it ends in its own way, a training after saving


def say(what: str) -> None:
    print(f"· {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
