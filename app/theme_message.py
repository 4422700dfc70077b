"""The theme that Streamlit sends with every rerun, composed once: its settings do not change while the app runs.

Streamlit looks through all its settings six times a rerun for it, a seventh of the work of a small page, with Python's lock
held. Where its insides are not as expected here, nothing is changed.
"""

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

NAME = "_populate_theme_msg"


def keep() -> bool:
    """From now on copy the theme of each section instead of composing it; whether that was possible."""
    compose = getattr(app_session, NAME, None)
    if compose is None:
        return False
    composed: dict[str, CustomThemeConfig] = {}

    def copy(msg: CustomThemeConfig, section: str = "theme") -> None:
        if section not in composed:
            composed[section] = CustomThemeConfig()
            compose(composed[section], section)
        msg.MergeFrom(composed[section])

    setattr(app_session, NAME, copy)
    return True
