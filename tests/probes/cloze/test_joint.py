"""Several masks filled together: a planted pair is decoded, and the search is never worse than greedy orders."""

import numpy as np
import pytest
import torch

import model
from model import Bert, BertConfig, tokenizer
from probes import cloze
from probes.cloze import joint

CITIES = [("new", "york")] * 4 + [("los", "angeles")] * 3 + [("los", "alamos")] * 3


@pytest.fixture(scope="module")
def cities() -> Bert:
    """A model that learned ten trips by heart: "los" is the likelier first word, "new york" the likelier pair."""
    pieces = tokenizer.from_vocabulary(["we", "saw", "new", "york", "los", "angeles", "alamos", "."])
    bert = Bert.random_init(BertConfig(pieces.vocab_size, 32, 2, 2, 64, 16, initializer_range=0.1), pieces, seed=2)
    gold_ids = torch.tensor([pieces.encode(f"we saw {first} {second} .").ids for first, second in CITIES])
    inputs = []
    for masked in ([3, 4], [4], [3]):  # both, and each alone
        ids = gold_ids.clone()
        ids[:, masked] = pieces.mask_id
        inputs.append(ids)
    batch = model.Batch(torch.cat(inputs), torch.zeros(30, 7, dtype=torch.long), torch.ones(30, 7, dtype=torch.bool))
    optimiser = torch.optim.Adam(bert.parameters(), 3e-3)
    for _ in range(150):
        logits = bert.mlm_logits(bert(batch)[:, 3:5])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), gold_ids[:, 3:5].repeat(3, 1).flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return bert.requires_grad_(False)


def words(bert: Bert, decoding: joint.Decoding) -> list[str]:
    return [bert.tokenizer.vocabulary[token_id] for token_id in decoding.ids]


def exhaustive(bert: Bert, encoding: model.Encoding, positions: list[int]) -> float:
    """The highest joint probability over the ten likeliest words at every step, by trying them all."""
    prefixes: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for position in positions:
        longer = []
        for ids, log_prob in prefixes:
            filled = encoding.replace_tokens({p: (i, "") for p, i in zip(positions, ids, strict=False)})
            row = np.log(cloze.probabilities(bert, filled, [position])[0])
            longer += [((*ids, int(token_id)), log_prob + row[token_id]) for token_id in np.argsort(row)[-10:]]
        prefixes = longer
    assert len(prefixes) == 10 ** len(positions)
    return max(log_prob for _, log_prob in prefixes)


def test_joint_decoding_finds_the_higher_joint_probability(cities):
    encoding = cities.tokenizer.encode("we saw [MASK] [MASK] .")
    independent, left_to_right, _, best_first = joint.decode_all(cities, encoding, [3, 4])
    assert words(cities, independent) == ["los", "york"]  # likeliest each, impossible together
    assert words(cities, left_to_right)[0] == "los"
    assert words(cities, best_first) == ["new", "york"]
    assert best_first.log_prob > left_to_right.log_prob > independent.log_prob
    assert best_first.probability == pytest.approx(0.4, abs=0.05)


def test_best_first_reaches_the_exhaustive_optimum_and_is_never_worse_than_another_order(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("[MASK] cat [MASK] on [MASK] mat")
    decodings = {decoding.method: decoding for decoding in joint.decode_all(tiny_bert, encoding, [1, 3, 5])}
    best = decodings["best first"].log_prob
    assert best == pytest.approx(exhaustive(tiny_bert, encoding, [1, 3, 5]), abs=1e-5)
    assert best >= max(decoding.log_prob for decoding in decodings.values()) - 1e-6


def test_confidence_first_decides_the_most_confident_mask_first(cities):
    encoding = cities.tokenizer.encode("we saw [MASK] [MASK] [MASK]")
    confidence = cloze.probabilities(cities, encoding, [3, 4, 5]).max(axis=1)
    assert joint.most_confident_first(cities, encoding, [3, 4, 5]).order[0] == 3 + int(confidence.argmax())


def test_one_mask_is_filled_alike_by_every_method(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat [MASK] on the mat")
    assert len({decoding.ids for decoding in joint.decode_all(tiny_bert, encoding, [3])}) == 1
