"""The pair of the first visit, ten pairs to start from, each with a question, and the texts they come from."""

from dataclasses import dataclass

DEFAULT_A = "She poured a cup of hot coffee and sat down."
DEFAULT_B = "Then she opened the newspaper and began to read."


@dataclass(frozen=True)
class PairSample:
    title: str
    question: str
    a: str
    b: str
    text: str = ""


MORNING = (
    f"It was early, and the house was quiet. {DEFAULT_A} {DEFAULT_B} The front page was about the "
    "strike. Outside, the first tram went by. A cat sat on the wall and watched the street."
)
BAKER = (
    "The baker gets up at three in the morning. He mixes flour, water and salt in a large bowl. The dough must rest "
    "for two hours. Then he shapes the loaves and puts them into the oven. By six the first customers stand at "
    "the door. The smell of bread fills the whole street."
)
RIVER = (
    "The river rises in the mountains. In spring, melting snow fills it to the brim. It carries sand and stones down "
    "into the valley. There the water slows and drops what it carried. Over many years a wide plain has grown there. "
    "Farmers value its rich soil."
)
LETTER = (
    "Anna found a letter under the door. It had no stamp and no name on it. She opened it with a knife. Inside was a "
    "map of the town, drawn by hand. One house was marked with a red cross. It was her own."
)
WAR = (
    "The war began in the summer. Both armies expected to win before winter. Neither did. Four years later the "
    "soldiers were still in the same trenches. A treaty was signed in the following spring."
)

SAMPLES = (
    PairSample(
        "The pair above",
        "“Then” says that something came before. Does the answer change when A and B are swapped?",
        DEFAULT_A,
        DEFAULT_B,
        MORNING,
    ),
    PairSample(
        "A true next sentence",
        "The easy case: same scene, next step. What is left of the answer when B comes from another topic?",
        "He mixes flour, water and salt in a large bowl.",
        "The dough must rest for two hours.",
        BAKER,
    ),
    PairSample(
        "Another topic",
        "Nothing connects these two. Which words of B give it away? Look at the evidence.",
        "The baker gets up at three in the morning.",
        "The treaty was signed in the following spring.",
        BAKER,
    ),
    PairSample(
        "Same text, wrong place",
        "B is from the same text, but comes before A. Does the head know the order, or only the topic?",
        "By six the first customers stand at the door.",
        "He mixes flour, water and salt in a large bowl.",
        BAKER,
    ),
    PairSample(
        "No word in common",
        "Only sense and “it” tie B to A. Is the answer the same as with shared words?",
        "Anna found a letter under the door.",
        "It had no stamp and no name on it.",
        LETTER,
    ),
    PairSample(
        "The trap of shared words",
        "B repeats the nouns of A and makes no sense after it. Does overlap win?",
        "The river carries sand and stones down into the valley.",
        "The valley was sold to a river made of sand, and the stones sang.",
        RIVER,
    ),
    PairSample(
        "Effect before cause",
        "The same two events the wrong way round. Swap them: does P(IsNext) move?",
        "There the water slows and drops what it carried.",
        "It carries sand and stones down into the valley.",
        RIVER,
    ),
    PairSample(
        "Question and answer",
        "An answer need not repeat the question. What does hiding “Where” change?",
        "Where did you put the tickets for tonight?",
        "They are in the pocket of my blue coat.",
    ),
    PairSample(
        "A says it, B denies it",
        "B fits the topic and contradicts A. Is “follows” the same as “agrees”?",
        "The war began in the summer.",
        "There was no war that summer.",
        WAR,
    ),
    PairSample(
        "Said twice",
        "B is A again. In real text that almost never happens: what does the head think?",
        "Farmers value its rich soil.",
        "Farmers value its rich soil.",
        RIVER,
    ),
)
# slug -> title and text
DOCUMENTS = {"letter": ("A letter", LETTER), "baker": ("A baker’s morning", BAKER), "river": ("A river", RIVER)}
TEXTS = (MORNING, BAKER, RIVER, LETTER, WAR)
