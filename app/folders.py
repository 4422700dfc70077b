"""Where things are: the reader's models, lessons and runs, and the settings of the server."""

import sys
from pathlib import Path

CODE = Path(__file__).resolve().parents[1]  # the folder that holds model, probes and app: it may be read-only
IN_CLONE = (CODE / "pyproject.toml").is_file()
HOME = CODE if IN_CLONE else Path.cwd()  # beside run.py in a clone, the working directory once installed
SETTINGS = (CODE if IN_CLONE else Path(sys.prefix) / "share" / "bertscope") / "streamlit_config.toml"
