"""Inputs a click away on each page, chosen for what that page shows."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Example:
    """Two sentences with a name; `shows` says what to look for, `state` sets more of the page's inputs."""

    title: str
    shows: str
    a: str
    b: str = ""
    state: dict[str, str] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, str]:
        """Every input that the example writes."""
        return {"a": self.a, "b": self.b} | self.state


COFFEE = Example(
    "A cup of coffee",
    "Both sentences of the first visit.",
    "She poured a cup of hot coffee and sat down.",
    "Then she opened the newspaper and began to read.",
)
BANKS = Example(
    "Two banks",
    "One word, two senses.",
    "He sat on the bank of the river and fished.",
    "Then he went to the bank and opened an account.",
)
KEYS = Example(
    "The keys to the cabinet",
    "The verb agrees with a word far from it.",
    "The keys to the old cabinet are on the table.",
    "They have been there since Monday.",
)
PRONOUNS = Example(
    "Who is she?",
    "Pronouns and the words they stand for.",
    "Anna gave her brother the book because he had asked for it.",
    "She wanted to read it again herself.",
)
PIECES = Example(
    "Long words",
    "Words that are not in the vocabulary are cut into pieces.",
    "The unbelievably photogenic hippopotamus yawned.",
    "Nobody photographed its extraordinary eyelashes.",
)
ORDER = Example(
    "Two meals, two orders",
    "Bread before butter, then butter before bread: positions differ, pieces do not.",
    "The dog chased the cat.",
    "The cat chased the dog.",
)
SHORT = Example("Four words", "Short enough to follow every number.", "My dog is cute.", "He likes playing.")
LONG = Example(
    "A paragraph",
    "Long inputs: the same questions with sixty tokens.",
    "On Monday morning the rain had stopped, and the market in front of the old station filled slowly with people who "
    "bought bread, fish and flowers.",
    "An old man with a yellow umbrella sold apples from a wooden cart, and every child who passed got one for nothing.",
)

EXAMPLES: dict[str, tuple[Example, ...]] = {
    "start": (COFFEE, KEYS, BANKS, PRONOUNS, SHORT),
    "input": (COFFEE, PIECES, ORDER, BANKS, SHORT, LONG),
    "attention": (COFFEE, KEYS, PRONOUNS, BANKS, ORDER, SHORT, LONG),
    "states": (COFFEE, BANKS, ORDER, PRONOUNS, PIECES, LONG),
    "mask": (COFFEE, KEYS, PRONOUNS, BANKS, PIECES, SHORT),
    "strategies": (COFFEE, PIECES, SHORT, KEYS, LONG),
    "next-sentence": (COFFEE, BANKS, KEYS, PRONOUNS, ORDER, LONG),
    "compare": (COFFEE, KEYS, BANKS, ORDER, SHORT),
}
