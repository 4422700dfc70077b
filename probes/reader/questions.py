"""150 questions on the texts of the reader, one each; the answer is a span of the half of the text it stands in."""

import csv
from dataclasses import dataclass
from pathlib import Path

from . import compact_form
from .texts import Reader

HALF = 4  # sentences


@dataclass(frozen=True)
class ReaderQuestion:
    """A question, the passage that answers it, and where in it the answer stands."""

    question: str
    passage: str
    start: int  # characters of the passage
    end: int
    split: str

    @property
    def answer(self) -> str:
        return self.passage[self.start : self.end]


def read(reader: Reader | None = None, folder: Path = compact_form.FOLDER) -> list[ReaderQuestion]:
    """All questions, in the order of their texts."""
    texts = {text.number: text for text in (reader or compact_form.read()).texts}
    questions = []
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            text = texts[int(row["text"])]
            sentences = [sentence.text for sentence in text.sentences]
            place = next(index for index, sentence in enumerate(sentences) if row["answer"] in sentence)
            passage = " ".join(sentences[place // HALF * HALF :][:HALF])
            start = passage.index(row["answer"])
            questions.append(ReaderQuestion(row["question"], passage, start, start + len(row["answer"]), text.split))
    return questions
