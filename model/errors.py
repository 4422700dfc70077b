"""Errors of the user's making: one sentence that says what is wrong and what is needed."""


class BertscopeError(Exception):
    """Something the user can correct; `str(error)` is the sentence to show."""


class InputError(BertscopeError):
    """A text or an argument that cannot be used."""


class CheckpointError(BertscopeError):
    """A folder or file that is not a checkpoint we can load."""


class MissingHeadError(BertscopeError):
    """A head that the checkpoint does not have."""
