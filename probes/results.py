"""The one file of an experiment: JSON that names its format, written whole, and read only when every field is sound."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from model import InputError, __version__
from model.files import write_text
from model.short_repr import ShortRepr

FORMAT = "bertscope result 3"
RESULT = "result.json"  # in the folder of a run


@dataclass(repr=False)
class ExperimentResult(ShortRepr):
    """What a probing experiment and a fine-tuning have in common; `experiment` in the file says which of the two it is."""

    EXPERIMENT: ClassVar[str]
    SETTINGS: ClassVar[dict[str, Any]]  # what settings must hold, and its type
    SIZES: ClassVar[frozenset[str]]

    settings: dict[str, Any]
    title: str = ""  # the task in words
    unit: str = "token"
    command: str = ""  # makes the same numbers again
    sizes: dict[str, int] = field(default_factory=dict)  # examples of train, dev and test; skipped, duplicate … sentences
    classes: list[str] = field(default_factory=list)
    finished: bool = False

    def json(self) -> str:
        """The content of its file, as `parse` reads it."""
        return json.dumps({"format": FORMAT, "version": __version__, "experiment": self.EXPERIMENT} | asdict(self))

    def write(self, path: Path) -> None:
        """Whole or not at all: a page may read while a run writes."""
        write_text(path, self.json())

    @classmethod
    def read(cls, path: Path) -> Self:
        """The result in a file."""
        return cls.parse(path.read_text(encoding="utf-8", errors="replace"), path.name)

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """The result in the text of a file, which may be of another version, cut off, or anybody's."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{name} is not JSON, so it is no {cls.EXPERIMENT} result.") from None
        if not isinstance(content, dict) or (content.get("format"), content.get("experiment")) != (FORMAT, cls.EXPERIMENT):
            raise InputError(f"{name} is no {cls.EXPERIMENT} result of this version, which writes “{FORMAT}”.")
        del content["format"], content["experiment"]
        try:
            if not isinstance(content.pop("version", ""), str):  # who wrote it
                raise TypeError
            result = cls(**content)
            result._check_fields()
            result.check()
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, InputError):
            raise InputError(f"{name} is a damaged {cls.EXPERIMENT} result.") from None
        return result

    @classmethod
    def resume(cls, path: Path, settings: dict[str, Any], command: str) -> Self:
        """The unfinished result of the same experiment in a file, or a new one."""
        try:
            earlier = cls.read(path)
            if earlier.settings == settings:
                return earlier
        except (FileNotFoundError, InputError):  # of another version or cut off: what it lacks is computed again
            pass
        return cls(settings, command=command)

    def _check_fields(self) -> None:
        empty = type(self)({})
        typed = [isinstance(getattr(self, one.name), type(getattr(empty, one.name))) for one in fields(self)]
        typed += [isinstance(self.settings[name], kind) for name, kind in self.SETTINGS.items()]
        typed += [isinstance(self.sizes[name], int) for name in self.SIZES]
        typed += [isinstance(label, str) for label in self.classes]
        if not all(typed):
            raise TypeError

    def check(self) -> None:
        """Raise where the parts do not belong together."""
        raise NotImplementedError
