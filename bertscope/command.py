"""The command `bertscope` of the installed package: the same commands as run.py."""

import sys

from bertscope import HERE
from bertscope.commands import COMMANDS, help_text, version
from bertscope.process import print_anywhere, run_module


def main() -> int:
    print_anywhere()
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(help_text("bertscope"))
        return 0
    if words == ["--version"]:
        print(f"Bertscope {version(HERE)}")
        return 0
    name = words.pop(0) if words and not words[0].startswith("-") else "app"
    if name not in COMMANDS:
        print(help_text("bertscope"))
        return 2
    command = COMMANDS[name]
    if command.needs_clone:
        print(f"“{name}” needs a clone of the repository; there it is: python3 run.py {name}", file=sys.stderr)
        return 2
    return run_module(sys.executable, command.module, words, HERE)
