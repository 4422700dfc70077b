"""The inputs of the bar written by an example, so that the reader can have back what stood there."""

import streamlit as st

PREVIOUS = "inputs before the last example"  # in the session: what Undo restores


def take(values: dict[str, str]) -> None:
    """Write these inputs, so that Undo can restore what stood there; called from a widget's callback."""
    st.session_state[PREVIOUS] = {key: st.session_state.get(key) for key in values}
    st.session_state.update(values)


def undo() -> None:
    """The inputs as they were before the last example."""
    for key, value in st.session_state.pop(PREVIOUS, {}).items():
        if value is None:
            st.session_state.pop(key, None)
        else:
            st.session_state[key] = value
