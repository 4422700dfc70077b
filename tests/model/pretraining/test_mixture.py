"""Several corpora, single inputs beside pairs, and held-out text that training never sees."""

import re
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import InputError, tokenizer
from model.pretraining import token_store
from model.pretraining.evaluation import cloze_accuracy
from model.pretraining.keep_apart import WORDS, keep_apart
from model.pretraining.loop import pretrain
from model.pretraining.masking import MaskingStrategy
from model.pretraining.mixture import Corpus, Mixture
from model.pretraining.objective import pretraining_batch
from model.pretraining.run_folder import PLATEAU
from model.pretraining.sentence_pairs import SentencePair
from model.pretraining.settings import WARM_STEPS, TrainingConfig
from model.pretraining.single_inputs import LENGTHS, SingleInput, SingleSampler, collate_singles
from model.pretraining.token_store import TokenStore

ROOT = Path(__file__).parents[3]
SMALL = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
NOUNS = ("cat", "dog", "cow", "fish", "mat", "hill", "field", "pond")
PIECES = tokenizer.from_vocabulary([*"abcdefghijklmnopqrstuvwxyz0123456789.", "the", "on", "sat", *NOUNS])


def config(**changes: Any) -> TrainingConfig:
    return TrainingConfig(
        **(
            {
                "preset": "tiny",
                "config": SMALL,
                "vocab_size": 120,
                "steps": 12,
                "max_length": 32,
                "batch_size": 8,
                "learning_rate": 3e-3,
                "heldout_every": 10,
                "evaluations": 2,
                "eval_pairs": 16,
                "threads": 1,
            }
            | changes
        )
    )


def texts(count: int, letter: str, sentences: int = 6) -> list[list[str]]:
    """Documents whose every sentence says which corpus it is from."""
    rng = np.random.default_rng(ord(letter))
    return [
        [f"{letter} the {rng.choice(NOUNS)} sat on {rng.choice(NOUNS)}." for _ in range(sentences)] for _ in range(count)
    ]


def open_corpus(folder: Path, documents: list[list[str]], name: str, weight: float = 1.0) -> Corpus:
    list(token_store.build(documents, PIECES, folder / name, heldout_every=10))
    return Corpus.open(folder / name, name, weight, PIECES)


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> list[Corpus]:
    folder = tmp_path_factory.mktemp("corpora")
    return [open_corpus(folder, texts(100, "a"), "a"), open_corpus(folder, texts(100, "b") + texts(100, "b", 1), "b", 3.0)]


def ids(example: SentencePair | SingleInput) -> list[int]:
    return (example.ids if isinstance(example, SingleInput) else np.concatenate([example.a, example.b])).tolist()


def test_batches_can_begin_at_any_step(two):
    mixture = Mixture(two, 64, 8, "another", 0.4, seed=3)
    series = [next(mixture.batches(first)) for first in range(70)]
    for expected, batch in zip(series, islice(mixture.batches(), 70), strict=True):
        assert list(map(ids, batch)) == list(map(ids, expected))


def test_batches_hold_pairs_of_similar_length(two):
    batches = list(islice(Mixture(two, 64, 16, "another", 0.0, seed=3).batches(), 64))
    padded = sum(len(batch) * max(map(len, batch)) for batch in batches)
    assert sum(len(pair) for batch in batches for pair in batch) / padded > 0.95


def test_the_fraction_of_single_steps_is_met(two):
    are_single = [
        isinstance(batch[0], SingleInput) for batch in islice(Mixture(two, 64, 4, "another", 0.3, 0).batches(), 200)
    ]
    assert sum(are_single) == 60
    assert not any(isinstance(b[0], SingleInput) for b in islice(Mixture(two, 64, 4, "another", 0.0, 0).batches(), 40))
    assert all(isinstance(b[0], SingleInput) for b in islice(Mixture(two, 64, 4, "another", 1.0, 0).batches(), 40))


def test_a_weight_of_three_is_read_three_times_as_often(two):
    names = {PIECES.token_to_id("a"): "a", PIECES.token_to_id("b"): "b"}
    counts: Counter[str] = Counter()
    for batch in islice(Mixture(two, 64, 16, "another", 0.0, 0).batches(), 64):
        firsts = [int(pair.a[0]) for pair in batch if isinstance(pair, SentencePair)]
        counts.update(names[first] for first in firsts if first in names)
    sizes = [corpus.weight * corpus.train.tokens for corpus in two]
    assert counts["b"] / counts.total() == pytest.approx(sizes[1] / sum(sizes), abs=0.03)


def test_negatives_come_from_another_document_of_the_same_corpus(two):
    first = {PIECES.token_to_id("a"), PIECES.token_to_id("b")}
    for batch in islice(Mixture(two, 64, 16, "another", 0.0, 0).batches(), 20):
        for pair in batch:
            assert isinstance(pair, SentencePair)
            letters = {int(pair.a[0]), int(pair.b[0])} & first
            assert len(letters) == 1


def test_single_inputs_are_whole_sentences_of_one_document(two):
    store = two[0].train
    starts, ends = set(store.sentences[:-1].tolist()), set(store.sentences[1:].tolist())
    lengths = Counter()
    for single in SingleSampler([store], seed=1).sample(0, 500):
        offset = (single.ids.__array_interface__["data"][0] - store.ids.__array_interface__["data"][0]) // 2
        assert offset in starts and offset + len(single.ids) in ends
        document = np.searchsorted(store.document_tokens, [offset, offset + len(single.ids) - 1], side="right")
        assert document[0] == document[1]
        lengths[sum(offset <= start < offset + len(single.ids) for start in starts)] += 1
    assert set(lengths) == {1, 2, 3}


def test_an_epoch_of_single_inputs_begins_at_every_sentence_once(two):
    corpus = two[1]
    stores = [corpus.train, corpus.train_single]
    count = sum(len(store.sentences) - 1 for store in stores)
    addresses = {single.ids.__array_interface__["data"][0] for single in SingleSampler(stores, 2).sample(0, count)}
    assert len(addresses) == count


def test_single_inputs_have_few_shapes_and_no_labels(two):
    shapes = set()
    for batch in islice(Mixture(two, 128, 16, "another", 1.0, 0).batches(), 100):
        rows = collate_singles([single for single in batch if isinstance(single, SingleInput)], PIECES)
        plain, padded = (
            pretraining_batch(batch, PIECES, MaskingStrategy(), np.random.default_rng(7), lengths=lengths)
            for lengths in ((), LENGTHS)
        )
        shapes.add(padded.batch.ids.shape[1])
        width = rows.ids.shape[1]
        assert torch.equal(padded.batch.ids[:, :width], plain.batch.ids) and torch.equal(padded.mlm_labels, plain.mlm_labels)
        assert not padded.batch.attention_mask[:, width:].any() and (padded.batch.ids[:, width:] == PIECES.pad_id).all()
        assert not len(rows.nsp_labels) and not rows.segments.any()
        assert (rows.ids[:, 0] == PIECES.cls_id).all()
        assert (rows.ids[np.arange(len(batch)), rows.attention_mask.sum(1) - 1] == PIECES.sep_id).all()
    assert shapes <= set(LENGTHS)


def test_a_sentence_beyond_the_greatest_length_is_cut(tmp_path):
    corpus = open_corpus(tmp_path, [["a " * 300 + "."], ["b ."]], "long")
    assert max(map(len, SingleSampler([corpus.train_single, corpus.heldout_single]).sample(0, 10))) == LENGTHS[-1]


def test_documents_of_one_sentence_are_held_out_by_their_own_count(tmp_path):
    """So that lines 2, 62, 122 of a file of single sentences are held out, whatever else stands in it."""
    lines = [[f"the cat {number}."] for number in range(200)]
    mixed = [document for pair in zip(texts(200, "a"), lines, strict=True) for document in pair]
    list(token_store.build(mixed, PIECES, tmp_path / "mixed", heldout_every=60))
    list(token_store.build(lines, PIECES, tmp_path / "lines", heldout_every=60))
    for part in ("heldout-single", "train-single"):
        assert TokenStore(tmp_path / "mixed" / part).ids.tolist() == TokenStore(tmp_path / "lines" / part).ids.tolist()
    assert len(TokenStore(tmp_path / "lines" / "heldout-single")) == 4
    assert len(TokenStore(tmp_path / "lines" / "train")) == 0


def words(store: TokenStore) -> list[list[str]]:
    return [
        [PIECES.vocabulary[i] for i in store.ids[begin:end]]
        for begin, end in zip(store.sentences[:-1], store.sentences[1:], strict=True)
    ]


def test_nothing_that_shares_eight_words_with_held_out_text_is_learned(tmp_path):
    rng = np.random.default_rng(0)
    documents = [[" ".join(rng.choice(NOUNS, 12)) + "." for _ in range(8)] for _ in range(120)]
    planted = documents[1][3]  # document 1 is held out
    documents[50][4] = "the the " + planted
    documents[70][0] = planted
    list(token_store.build(documents, PIECES, tmp_path / "ids", heldout_every=60))
    before = len(TokenStore(tmp_path / "ids" / "train"))
    counts = keep_apart([tmp_path / "ids"], PIECES, [[documents[90][3]]])
    remaining = {" ".join(sentence) for sentence in words(TokenStore(tmp_path / "ids" / "train"))}
    shared = {" ".join(re.findall(r"\w+|\.", text)) for text in (documents[50][4], planted, documents[90][3])}
    assert not remaining & shared
    # with each its neighbours go: 3 of document 50, 2 of document 70, 3 of document 90, each of which becomes one or two
    assert counts["left_out"] == 8 and len(TokenStore(tmp_path / "ids" / "train")) == before + 2
    assert keep_apart([tmp_path / "ids"], PIECES, [[documents[90][3]]])["left_out"] == 0


def test_a_short_sentence_that_is_held_out_whole_is_not_learned_alone(tmp_path):
    lines = [[f"{noun} sat."] for noun in NOUNS for _ in range(2)]  # the second is held out, so the first goes too
    list(
        token_store.build(
            [*lines, *texts(4, "a"), ["the cow.", "cat sat.", "the dog."]], PIECES, tmp_path / "ids", heldout_every=60
        )
    )
    assert keep_apart([tmp_path / "ids"], PIECES)["left_out"] == 1
    assert ["cat", "sat", "."] not in words(TokenStore(tmp_path / "ids" / "train-single"))
    assert ["cat", "sat", "."] in words(TokenStore(tmp_path / "ids" / "train"))  # among others it gives nothing away


def test_seven_words_in_common_are_no_reason(tmp_path):
    run = " ".join(NOUNS[: WORDS - 1])
    documents = [["the cat sat.", "on the mat."], [f"a {run} b.", "the cow."], [f"c {run} d.", "the fish."]]
    list(token_store.build(documents, PIECES, tmp_path / "ids", heldout_every=60))
    assert keep_apart([tmp_path / "ids"], PIECES)["left_out"] == 0
    documents[2][0] = f"a {run} d."
    list(token_store.build(documents, PIECES, tmp_path / "more", heldout_every=60))
    assert keep_apart([tmp_path / "more"], PIECES)["left_out"] == 2


def test_a_constant_rate_falls_only_at_the_end():
    rates = [config(steps=1000, schedule="constant", decay_last=0.2).learning_rate_at(step, 0) for step in range(1000)]
    assert rates[WARM_STEPS:800] == [3e-3] * (800 - WARM_STEPS)
    assert rates[:WARM_STEPS] == sorted(rates[:WARM_STEPS]) and rates[799:] == sorted(rates[799:], reverse=True)
    assert 0 < rates[-1] < 1e-5
    longer = config(steps=4000, schedule="constant", decay_last=0.2)
    assert [longer.learning_rate_at(step, 0) for step in range(800)] == rates[:800]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return model.load(folder).state_dict()


@pytest.fixture(scope="module")
def sources() -> list[list[list[str]]]:
    return [texts(40, "a"), texts(40, "b", 1) + texts(30, "c"), texts(40, "d", 1) + texts(1, "e")]


MIXED = {
    "singles": 0.5,
    "weights": (1, 4, 2),
    "schedule": "constant",
    "decay_last": 0.25,
    "keep_apart": True,
    "dropout": 0.1,
}


def test_a_run_over_several_corpora_reports_each_and_goes_on_bit_identical(sources, tmp_path):
    reports = list(pretrain(sources, tmp_path / "whole", config(**MIXED)))
    heldout = reports[-1].heldout_by_corpus
    assert set(heldout) == {"texts 1", "texts 2", "texts 1, singles", "texts 2, singles", "texts 3, singles"}
    assert heldout["texts 1"].pairs and not heldout["texts 1, singles"].pairs
    assert {progress.nsp_loss is None for progress in reports if progress.mlm_loss is not None} == {True, False}
    interrupted = pretrain(sources, tmp_path / "broken", config(**MIXED))
    next(progress for progress in interrupted if progress.step == 5)
    interrupted.close()
    list(pretrain(None, tmp_path / "broken", resume=True))
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert "held out of texts 2, singles" in model.load(tmp_path / "whole").info.card


def test_a_constant_run_made_longer_is_the_longer_run(sources, tmp_path):
    """After its end, and in the middle of its decay, it goes on from the plateau without a new warm-up."""
    list(pretrain(sources, tmp_path / "long", config(**MIXED, steps=24)))
    list(pretrain(sources, tmp_path / "ended", config(**MIXED, steps=12)))
    decaying = pretrain(sources, tmp_path / "decaying", config(**MIXED, steps=12))
    next(progress for progress in decaying if progress.step == 11)
    decaying.close()
    for name in ("ended", "decaying"):
        assert (tmp_path / name / PLATEAU).is_file()
        reports = list(pretrain(None, tmp_path / name, config(**MIXED, steps=24), resume=True))
        assert reports[0].step == 10
        whole, prolonged = weights(tmp_path / "long"), weights(tmp_path / name)
        assert all(torch.equal(whole[key], prolonged[key]) for key in whole)
    with pytest.raises(InputError, match="other settings"):
        list(pretrain(None, tmp_path / "ended", config(**MIXED | {"singles": 0.1}, steps=48), resume=True))


def test_a_run_does_not_reseed_the_callers_generators(sources, tmp_path):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    list(pretrain(sources[0], tmp_path / "run", config(steps=2)))
    assert torch.equal(torch.rand(3), expected)


def test_what_cannot_be_mixed_is_refused_in_one_sentence(sources, tmp_path):
    for refused, message in [
        (lambda: pretrain(sources, tmp_path / "few", config(weights=(1, 2))), "as many corpora"),
        (lambda: [config(weights=(1, 0))], "above 0"),
        (lambda: [config(singles=1.5)], "0 to 100"),
        (lambda: [config(schedule="cosine")], "linear or constant"),
        (lambda: pretrain([" a."] * 30, tmp_path / "lone", config()), "two sentences or more"),
    ]:
        with pytest.raises(InputError, match=message):
            list(refused())


def test_single_sentences_alone_can_be_learned_from(tmp_path):
    reports = list(pretrain(texts(60, "a", 1), tmp_path / "run", config(singles=1.0)))
    heldout = reports[-1].heldout
    assert heldout is not None and heldout.words and not heldout.pairs
    assert (heldout.nsp_loss, heldout.nsp_accuracy) == (None, None)
    assert "nan" not in (tmp_path / "run" / "history.csv").read_text()


def test_the_command_takes_weights_and_makes_a_run_longer(tmp_path):
    for name, documents in (("a.txt", texts(40, "a")), ("b.txt", texts(60, "b", 1))):
        (tmp_path / name).write_text("\n\n".join("\n".join(document) for document in documents))
    words = [
        "--preset",
        "tiny",
        "--batch",
        "4",
        "--vocabulary",
        "120",
        "--length",
        "32",
        "--threads",
        "1",
        "--hold-out",
        "10",
        "--evaluations",
        "1",
        "--held",
        "8",
        "--singles",
        "50",
        "--schedule",
        "constant",
        "--keep-apart",
    ]
    out = str(tmp_path / "run")

    def run(*more: str) -> str:
        process = subprocess.run(
            [sys.executable, "-m", "model.train", "--out", out, *more], cwd=ROOT, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    first = run("--corpus", str(tmp_path / "a.txt"), f"{tmp_path / 'b.txt'}:3", *words, "--steps", "4")
    assert "a, singles: MLM accuracy" in first and "b, singles: MLM accuracy" in first
    assert "× 3" in (tmp_path / "run" / "CARD.md").read_text()
    assert "step 8" in run("--resume", "--steps", "8")


def test_the_masked_words_of_held_out_sentences_are_guessed_by_a_model_that_learned_them(tmp_path):
    """The same sentences for every model; where only one word can stand, a trained model names it."""
    lines = [[f"the {noun} sat on {noun}."] for noun in NOUNS] * 30
    list(pretrain(lines, tmp_path / "run", config(singles=1.0, steps=120, batch_size=16, vocab_size=80)))
    learned = model.load(tmp_path / "run")
    stores = [TokenStore(tmp_path / "run" / "corpus" / part) for part in ("heldout", "heldout-single")]
    scores, baseline = (cloze_accuracy(bert, stores, 24) for bert in (learned, learned.random_init_copy()))
    assert scores.sentences == baseline.sentences == 24
    assert baseline.top1 + 0.2 < scores.top1 <= scores.top5


def test_evaluate_reports_each_corpus_apart(tmp_path):
    for name, documents in (("stories.txt", texts(40, "a")), ("lines.txt", texts(60, "b", 1))):
        (tmp_path / name).write_text("\n\n".join("\n".join(document) for document in documents))
    (tmp_path / "cloze.txt").write_text("The cat sat on the [MASK].\n")
    files = [str(tmp_path / name) for name in ("stories.txt", "lines.txt")]
    words = ["--hold-out", "1", "--pairs", "8", "--length", "32", "--singles", "16", "--cloze", str(tmp_path / "cloze.txt")]
    process = subprocess.run(
        [sys.executable, "-m", "model.evaluate", "english", "--corpus", *files, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert re.search(r"0-stories +another document +\d", process.stdout)
    assert re.search(r"1-lines +16 +\d", process.stdout) and "1-lines   " in process.stdout
    assert re.search(r"The cat sat on the \[MASK\]\.  \w+ \d+%(, \S+ \d+%){4}", process.stdout)
