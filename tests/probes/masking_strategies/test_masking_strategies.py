"""Masking strategies: what they do to a text, what the model predicts there, and models trained under each."""

import json

import numpy as np
import pandas as pd
import pytest

import model
from model import InputError, smallworld
from model.pretraining.masking import MASKED, RANDOM, SAME, UNSELECTED, MaskingStrategy, corrupt
from probes import bundled, statistics
from probes.cloze import directions
from probes.masking_strategies import corruption, evaluation, training_runs
from probes.masking_strategies.__main__ import main

TEXT = "the cat sat on the mat . my dog likes playing , he ran ."
STRATEGIES = [
    MaskingStrategy(),
    MaskingStrategy(1, 0, 0),
    MaskingStrategy(0.8, 0.2, 0),
    MaskingStrategy(0.8, 0, 0.2),
    MaskingStrategy(0, 0.8, 0.2),
    MaskingStrategy(0, 1, 0),
]
TINY = {"steps": 6, "hidden": 16, "heads": 2, "stories": 80, "batch_size": 4}


class TestText:
    @pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: f"{s.mask:.0%} {s.random:.0%} {s.keep:.0%}")
    def test_the_three_shares_lie_in_their_intervals(self, tiny_bert, strategy):
        # one seed in twenty may fall outside a 95 % interval, so that of four deviations is taken
        encoding = tiny_bert.tokenizer.encode(TEXT)
        table = corruption.observed_shares(tiny_bert, encoding, strategy, 2000, seed=1).set_index("what")
        for what, row in table.iloc[1:].iterrows():
            low, high = statistics.wilson_interval(int(row["count"]), int(row["of"]), z=4)
            assert low <= row["expected"] <= high, what
        assert table.loc["chosen", "observed"] == pytest.approx(0.15, abs=0.005)

    def test_the_replacements_add_up_to_the_selected(self, tiny_bert):
        table = corruption.observed_shares(tiny_bert, tiny_bert.tokenizer.encode(TEXT), MaskingStrategy(), 50)
        assert table["count"].iloc[1:].sum() == table["count"].iloc[0]

    def test_a_short_text_gives_one_word_whatever_the_rate(self, tiny_bert):
        table = corruption.observed_shares(tiny_bert, tiny_bert.tokenizer.encode("my dog is cute"), MaskingStrategy(), 100)
        assert table["observed"].iloc[0] == table["expected"].iloc[0] == 0.25

    @pytest.mark.parametrize("whole", [False, True])
    @pytest.mark.parametrize("rate", [0.07, 0.15, 0.4])
    def test_the_interval_of_the_selected_share_covers_it_in_95_of_100_and_is_no_wider(self, tiny_bert, whole, rate):
        encoding = tiny_bert.tokenizer.encode("the cats sat on the mat . my dogs likes playing , he ran zig zag .")
        strategy, draws, times = MaskingStrategy(mlm_probability=rate, whole_word=whole), 30, 800
        tables = [corruption.observed_shares(tiny_bert, encoding, strategy, draws, seed).iloc[0] for seed in range(times)]
        covered = np.mean([row["low"] - 1e-12 <= row["expected"] <= row["high"] + 1e-12 for row in tables])
        assert 0.93 <= covered <= 0.98  # counts are whole numbers, so the coverage cannot be met to the digit
        observed = np.array([row["observed"] for row in tables])
        assert observed.mean() == pytest.approx(tables[0]["expected"], abs=4 * observed.std() / np.sqrt(times))
        assert (tables[0]["high"] - tables[0]["low"]) / 2 == pytest.approx(1.96 * observed.std(), rel=0.08)

    def test_a_count_that_is_fixed_has_no_error(self, tiny_bert):
        row = corruption.observed_shares(
            tiny_bert, tiny_bert.tokenizer.encode("the cat sat on"), MaskingStrategy(mlm_probability=0.5), 20
        ).iloc[0]
        assert row["low"] == row["observed"] == row["high"] == 0.5

    def test_a_short_text_of_whole_words_gives_one_of_its_words(self, tiny_bert):
        row = corruption.observed_shares(
            tiny_bert, tiny_bert.tokenizer.encode("playing dogs ran"), MaskingStrategy(whole_word=True), 4000
        ).iloc[0]
        assert row["expected"] == pytest.approx(1 / 3)
        assert row["low"] <= 1 / 3 <= row["high"]

    @pytest.mark.parametrize("whole", [False, True])
    def test_special_tokens_are_never_selected(self, tiny_bert, whole):
        encoding = tiny_bert.tokenizer.encode("my dog likes playing", "he ran")
        ids = np.repeat([encoding.ids], 200, axis=0)
        replacement = corrupt(
            ids, tiny_bert.tokenizer, MaskingStrategy(mlm_probability=1.0, whole_word=whole), np.random.default_rng(0)
        ).replacement
        special = np.array([token.is_special for token in encoding.tokens])
        assert (replacement[:, special] == UNSELECTED).all()
        assert (replacement[:, ~special] != UNSELECTED).all()

    def test_labels_undo_the_masking(self, tiny_bert):
        encoding = tiny_bert.tokenizer.encode(TEXT)
        for seed in range(20):
            strategy = MaskingStrategy(0.4, 0.3, 0.3, mlm_probability=0.5)
            corrupted, replacement = corruption.sample(tiny_bert, encoding, strategy, seed)
            ids, original = np.array(corrupted.ids), np.array(encoding.ids)
            assert np.array_equal(np.where(replacement == UNSELECTED, ids, original), original)
            assert (ids[replacement == MASKED] == tiny_bert.tokenizer.mask_id).all()
            assert np.array_equal(ids[replacement == SAME], original[replacement == SAME])
            assert not set(ids[replacement == RANDOM].tolist()) & tiny_bert.tokenizer.special_ids


class TestModel:
    def test_a_word_left_as_it_is_is_predicted_best(self, english):
        encoding = english.tokenizer.encode("The dog chased the cat.")
        apple = english.tokenizer.token_to_id("apple")
        masked, random, same = corruption.predict_by_replacement(english, encoding, 2, apple)
        gold = encoding.ids[2]
        assert same[gold] > 0.8 > masked[gold]
        assert random[gold] < same[gold]

    def test_the_mismatch_shows_on_the_shipped_model(self, english):
        texts = ["She poured a cup of hot tea and sat down.", "The old man walked slowly along the river."]
        table = corruption.mismatch(english, [english.tokenizer.encode(text) for text in texts], max_positions=12)
        masked, random, same = table.to_dict("records")
        assert same["accuracy"] > masked["accuracy"]
        assert random["detected"] > same["detected"]
        assert table["positions"].tolist() == [12, 12, 12]

    def test_a_text_without_words_is_refused(self, tiny_bert):
        with pytest.raises(InputError, match="no word"):
            corruption.mismatch(tiny_bert, [tiny_bert.tokenizer.encode_ids([tiny_bert.tokenizer.mask_id])])


class TestTrainingRuns:
    @pytest.fixture(scope="class")
    @classmethod
    def run(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("runs")
        conditions = [training_runs.condition("80/10/10"), *training_runs.DIRECTIONS[:2]]
        described = [training_runs.describe(condition) for condition in conditions]
        return folder, described, list(training_runs.run(folder, described, [0], TINY))

    def test_every_model_is_trained_and_measured(self, run):
        folder, _, progress = run
        table = training_runs.results(folder)
        assert table["condition"].tolist() == ["80/10/10", "left", "right", "averaged"]
        assert table[["masked"]].notna().all().all()
        assert all(0 <= float(table[name].iloc[0]) <= 1 for name in ("probe", "finetuned"))
        fractions = [step["fraction"] for step in progress]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0

    def test_what_is_finished_is_not_done_again(self, run):
        folder, described, _ = run
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("model.safetensors")}
        assert not [progress for progress in training_runs.run(folder, described, [0], TINY) if progress.get("step")]
        assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("model.safetensors")}

    def test_a_stopped_run_goes_on(self, tmp_path):
        described = [training_runs.describe(training_runs.condition("100/0/0"))]
        running = training_runs.run(tmp_path, described, [0], TINY)
        for progress in running:
            if progress.get("step") == 3:
                break
        running.close()
        resumed = training_runs.run(tmp_path, described, [0], TINY)
        steps = [progress["step"] for progress in resumed if progress.get("step")]
        assert (min(steps), max(steps)) == (4, 6)

    def test_a_corpus_of_ones_own_has_no_labels(self, tmp_path):
        corpus = "\n\n".join(smallworld.documents(5, 60))
        (tmp_path / "corpus.txt").write_text(corpus, encoding="utf-8")
        described = [training_runs.describe(training_runs.condition("50/25/25"))]
        list(training_runs.run(tmp_path, described, [0], TINY | {"vocab_size": 300}, "corpus.txt"))
        table = training_runs.results(tmp_path)
        assert "masked" in table
        assert "probe" not in table

    def test_a_strategy_is_written_in_the_papers_order(self):
        assert training_runs.condition("80/20/0").masking == MaskingStrategy(0.8, 0, 0.2)
        assert {condition.name: condition.masking for condition in training_runs.STRATEGIES}["0/20/80"] == MaskingStrategy(
            0, 0.8, 0.2
        )

    @pytest.mark.parametrize("name", ["80/10", "a/b/c", "", "50/50/50"])
    def test_what_is_no_strategy_is_refused(self, name):
        with pytest.raises(InputError):
            training_runs.condition(name)

    def test_too_small_a_corpus_is_refused(self, tmp_path):
        (tmp_path / "one.txt").write_text("A sentence. Another one.", encoding="utf-8")
        with pytest.raises(InputError, match="too small"):
            list(training_runs.run(tmp_path, [training_runs.describe(training_runs.DIRECTIONS[2])], [0], TINY, "one.txt"))


class TestCommand:
    def test_what_is_no_strategy_ends_with_one_sentence_and_the_code_2(self, tmp_path, capsys):
        assert main(["--out", str(tmp_path / "new"), "--mixes", "80/10"]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith("“80/10” is no masking strategy")
        assert output.err.count("\n") == 1
        assert not (tmp_path / "new").exists()

    def test_a_small_run_prints_the_accuracies_of_every_condition(self, tmp_path, capsys):
        options = [word for name, value in TINY.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        assert main(["--out", str(tmp_path), "--mixes", "100/0/0", "--seeds", "1", *options]) == 0
        assert "100/0/0" in capsys.readouterr().out.splitlines()[-1]
        assert json.loads((tmp_path / training_runs.SETTINGS).read_text())["conditions"][0]["name"] == "100/0/0"


class TestEvaluation:
    @pytest.fixture(scope="class")
    @classmethod
    def untrained(cls):
        tokenizer = smallworld.tokenizer()
        return model.Bert.random_init(model.BertConfig(tokenizer.vocab_size, 16, 1, 2, 32, 128), tokenizer)

    def test_the_labels_belong_to_the_words(self, untrained):
        task = evaluation.noun_relations(untrained)
        train = task.train
        for (row, position), word_type in list(zip(train.inputs.positions, train.word_types, strict=True))[:200]:
            assert train.inputs.encodings[row].tokens[position].text == word_type
        assert {"nsubj", "obj"} <= set(task.classes)
        assert len(train.labels) == len(train.word_types) == len(train.inputs.positions)

    def test_a_noun_alone_does_not_give_its_relation(self, untrained):
        assert 0.3 < evaluation.word_type_accuracy(evaluation.noun_relations(untrained)) < 0.8

    def test_fine_tuning_learns_more_than_the_word_type(self):
        bert = model.load("smallworld")
        task = evaluation.noun_relations(bert)
        assert evaluation.finetuned_accuracy(bert, task, seed=0) > evaluation.word_type_accuracy(task) + 0.2


class TestShipped:
    @pytest.mark.parametrize("name, count", [(bundled.STRATEGIES, 6), (bundled.DIRECTIONS, 4)])
    def test_every_condition_has_three_seeds_and_its_command(self, name, count):
        table = bundled.results(name)
        assert table.groupby("condition")["seed"].nunique().tolist() == [3] * count
        assert bundled.command(name).startswith("python3 run.py strategies")
        assert json.loads(json.dumps(bundled.settings(name)))["seeds"] == [0, 1, 2]

    @pytest.mark.parametrize("name", [bundled.STRATEGIES, bundled.DIRECTIONS])
    def test_every_model_beats_the_commonest_word_and_none_the_best_possible(self, name):
        table = bundled.results(name)
        assert float(table["masked"].min()) > float(table["masked_most_frequent"].max())
        assert float(table["masked"].max()) < bundled.ceiling(name)

    def test_naming_unmasked_words_is_learned_from_words_left_as_they_are(self):
        means = bundled.results(bundled.STRATEGIES).groupby("condition")["unmasked"].mean().to_dict()
        assert means["80/20/0"] > means["80/10/10"] > means["80/0/20"] > means["100/0/0"]

    def test_the_shipped_models_answer_in_the_direction_they_learned(self):
        trained = {name: model.load(folder) for name, folder in bundled.direction_models().items()}
        pieces = trained["both"].tokenizer
        greeted, smiled = (
            directions.predict_with(trained, pieces.encode(f"The seller [MASK] {end}"), 3)
            for end in ("them and sold them the apples.", "and sold them the apples.")
        )
        np.testing.assert_allclose(greeted["left"], smiled["left"], atol=1e-6)
        for name in ("right", "both"):
            assert greeted[name][pieces.token_to_id("greeted")] > smiled[name][pieces.token_to_id("greeted")], name

    def test_both_directions_at_once_are_ahead_of_each_side_with_every_seed(self):
        by_condition = bundled.results(bundled.DIRECTIONS).pivot(index="seed", columns="condition", values="masked")
        assert bool((by_condition["both"] > by_condition[["left", "right"]].max(axis=1)).all())

    def test_the_gain_is_over_the_better_single_side(self):
        table = pd.DataFrame({"condition": ["left", "right", "both"], "masked": [0.4, 0.5, 0.45]})
        assert directions.bidirectional_gain(table) == pytest.approx(-0.05)
