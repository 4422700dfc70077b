"""Choices that stand in the address by a short ASCII slug: a label can be reworded without breaking a link."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

SECTION = "Show"
SEPARATOR = "-"  # between the slugs of several choices


def choice(
    label: str,
    options: Mapping[str, str],
    key: str,
    on_change: Callable[[], None] | None = None,
    help: str | None = None,
) -> str:
    """A segmented control over {slug: label}; the slug stands in the address, the first one by standing nowhere.

    Sections of a page, labelled SECTION, need no heading: the label is for screen readers.
    """
    _seed(key, options)
    slug = st.segmented_control(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        required=True,
        on_change=on_change,
        help=help,
        label_visibility="collapsed" if label == SECTION else "visible",
        persist_state="session",
    )
    return _link(key, options, slug)


def select(label: str, options: Mapping[str, str], key: str, on_change: Callable[[], None] | None = None) -> str:
    """The same as a list that opens, for options that are many or long."""
    _seed(key, options)
    slug = st.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, on_change=on_change, persist_state="session"
    )
    return _link(key, options, slug)


def pills(label: str, options: Mapping[str, str], key: str, default: str) -> str:
    """The same as loose buttons, for words of a sentence; the default is the one left out of the address."""
    _seed(key, options, default)
    slug = st.pills(label, list(options), format_func=options.__getitem__, key=key, required=True, persist_state="session")
    return _link(key, options, slug, default)


def slider(label: str, options: Mapping[str, str], key: str, default: str) -> str:
    """The same as a slider, for options that stand in a row; the default is the one left out of the address."""
    _seed(key, options, default)
    slug = st.select_slider(label, list(options), format_func=options.__getitem__, key=key, persist_state="session")
    return _link(key, options, slug, default)


def choices(
    label: str, options: Mapping[str, str], key: str, default: Sequence[str], max_selections: int | None = None
) -> list[str]:
    """Several of {slug: label}: the slugs stand in the address with a hyphen between them, the default nowhere."""
    linked = [slug for slug in st.query_params.get(key, "").split(SEPARATOR) if slug in options][:max_selections]
    current = st.session_state.get(key)
    if current is None or not set(current) <= set(options):
        st.session_state[key] = linked or list(default)
    slugs = st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        max_selections=max_selections,
        persist_state="session",
    )
    _write(key, None if list(slugs) == list(default) else SEPARATOR.join(slugs))
    return list(slugs)


def _seed(key: str, options: Mapping[str, str], default: str | None = None) -> None:
    """Begin with what the address names, else with the default; a choice that is no longer offered begins again."""
    if st.session_state.get(key) not in options:
        linked = st.query_params.get(key, "")
        st.session_state[key] = linked if linked in options else default or next(iter(options))


def _link(key: str, options: Mapping[str, str], slug: str | None, default: str | None = None) -> str:
    first = default or next(iter(options))
    slug = slug or first
    _write(key, None if slug == first else slug)
    return slug


def _write(key: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != value:
        st.query_params[key] = value
