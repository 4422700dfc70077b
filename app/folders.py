"""Where the reader's models, lessons and runs are: beside run.py in a clone, in the working directory once installed."""

from pathlib import Path

CODE = Path(__file__).resolve().parents[1]  # the folder that holds model, probes and app: it may be read-only
HOME = CODE if (CODE / "pyproject.toml").is_file() else Path.cwd()
