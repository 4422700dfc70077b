"""A sentence with its planted truth: words, dependency tree, referents and place in the story; as CoNLL-U too."""

from dataclasses import dataclass

ROOT = -1


@dataclass(frozen=True, slots=True)
class StoryWord:
    """One word and what is true of it, with the labels of Universal Dependencies."""

    form: str  # as written, with its capital
    lemma: str
    upos: str
    feats: str  # "Number=Sing|Person=3", empty when there are none
    head: int  # index of its head in the sentence, ROOT for the root
    deprel: str
    referent: str | None = None  # whom or what it names: hero, companion, group, worker, thing, place


@dataclass(frozen=True)
class StorySentence:
    """A sentence of a story; `position` counts from 0 and `kind` names what the sentence does there."""

    words: tuple[StoryWord, ...]
    story: int
    position: int
    kind: str

    @property
    def text(self) -> str:
        spaced = " ".join(word.form for word in self.words)
        return spaced.replace(" ,", ",").replace(" .", ".")

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its words in small letters: exactly the wordpieces of `smallworld.tokenizer()`."""
        return tuple(word.form.lower() for word in self.words)

    def conllu(self) -> str:
        """Ten columns a word, counted from 1; the referent stands in the last one as Entity=."""
        lines = [
            f"# sent_id = smallworld-{self.story}-{self.position + 1}",
            f"# text = {self.text}",
            f"# kind = {self.kind}",
        ]
        for index, word in enumerate(self.words):
            after = self.words[index + 1].form if index + 1 < len(self.words) else ""
            misc = ([f"Entity={word.referent}"] if word.referent else []) + (
                ["SpaceAfter=No"] if after in (",", ".") else []
            )
            lines.append(
                "\t".join(
                    (
                        str(index + 1),
                        word.form,
                        word.lemma,
                        word.upos,
                        "_",
                        word.feats or "_",
                        str(word.head + 1),
                        word.deprel,
                        "_",
                        "|".join(misc) or "_",
                    )
                )
            )
        return "\n".join(lines) + "\n\n"


@dataclass(frozen=True)
class Story:
    """Sentences that belong together, and the plan behind them: who, where, when, with whom."""

    sentences: tuple[StorySentence, ...]
    plan: dict[str, object]

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    def conllu(self) -> str:
        return f"# newdoc id = smallworld-{self.sentences[0].story}\n" + "".join(
            sentence.conllu() for sentence in self.sentences
        )
