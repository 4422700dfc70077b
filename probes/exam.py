"""What a model trained on the small world can do: with words masked, in sight or replaced, and for a labelling task."""


from model import Bert
from model.masking import Mix
from model.objective import evaluate
from model.store import Store

PAIRS = 400
# the same words are asked for each time; what differs is what the model reads in their place
READS = {"masked": Mix(1, 0, 0), "unmasked": Mix(0, 0, 1), "replaced": Mix(0, 1, 0)}

# what is measured: its title, and one sentence on what it is
COLUMNS = {
    "masked": ("Masked words", "held-out words named when the model reads [MASK]."),
    "unmasked": ("Words in sight", "held-out words named when the model reads the word itself, as it does in use."),
    "replaced": ("Replaced words", "held-out words named when the model reads a random word in their place."),
}


def measured(bert: Bert, held: Store, sight: str, length: int, labelled: bool, seed: int) -> dict[str, float]:
    """Every figure of one model on texts it has not seen: accuracies from 0 to 1."""
    found = {name: evaluate(bert, held, mix, length, count=PAIRS, sight=sight).mlm_accuracy
             for name, mix in READS.items()}
    return found
