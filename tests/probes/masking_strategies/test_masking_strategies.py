"""Masking strategies: what a mix does to a text, what the model makes of it, and models trained under each."""

import json

import numpy as np
import pandas as pd
import pytest

import model
from model import InputProblem, smallworld
from model.pretraining.masking import KEPT, MASKED, RANDOM, UNTOUCHED, Mix, masked
from probes import bundled
from probes.cloze import directions, query
from probes.masking_strategies import corruption, evaluation, training_runs

TEXT = "the cat sat on the mat . my dog likes playing , he ran ."
MIXES = [Mix(), Mix(1, 0, 0), Mix(0.8, 0.2, 0), Mix(0.8, 0, 0.2), Mix(0, 0.8, 0.2), Mix(0, 1, 0)]
TINY = {"steps": 6, "hidden": 16, "heads": 2, "stories": 80, "batch": 4}


class TestText:
    @pytest.mark.parametrize("mix", MIXES, ids=lambda mix: f"{mix.mask:.0%} {mix.random:.0%} {mix.keep:.0%}")
    def test_the_three_shares_lie_in_their_intervals(self, little, mix):
        # one seed in twenty may fall outside a 95 % interval, so the wider one of four deviations is asked for
        table = corruption.shares(little, little.tokenizer.encode(TEXT), mix, 2000, seed=1).set_index("what")
        for what, row in table.iloc[1:].iterrows():
            low, high = corruption.interval(int(row["count"]), int(row["of"]), z=4)
            assert low <= row["expected"] <= high, what
        assert table.loc["chosen", "observed"] == pytest.approx(0.15, abs=0.005)

    def test_the_fates_add_up_to_the_chosen(self, little):
        table = corruption.shares(little, little.tokenizer.encode(TEXT), Mix(), 50)
        assert table["count"].iloc[1:].sum() == table["count"].iloc[0]

    def test_a_short_text_gives_one_word_whatever_the_rate(self, little):
        table = corruption.shares(little, little.tokenizer.encode("my dog is cute"), Mix(), 100)
        assert table["observed"].iloc[0] == table["expected"].iloc[0] == 0.25

    @pytest.mark.parametrize("whole", [False, True])
    @pytest.mark.parametrize("rate", [0.07, 0.15, 0.4])
    def test_the_interval_of_the_chosen_share_covers_it_in_95_of_100_and_is_no_wider(self, little, whole, rate):
        encoding = little.tokenizer.encode("the cats sat on the mat . my dogs likes playing , he ran zig zag .")
        mix, draws, times = Mix(chosen=rate, whole_words=whole), 30, 800
        tables = [corruption.shares(little, encoding, mix, draws, seed).iloc[0] for seed in range(times)]
        covered = np.mean([row["low"] - 1e-12 <= row["expected"] <= row["high"] + 1e-12 for row in tables])
        assert 0.93 <= covered <= 0.98  # counts are whole numbers, so the coverage cannot be met to the digit
        observed = np.array([row["observed"] for row in tables])
        assert observed.mean() == pytest.approx(tables[0]["expected"], abs=4 * observed.std() / np.sqrt(times))
        assert (tables[0]["high"] - tables[0]["low"]) / 2 == pytest.approx(1.96 * observed.std(), rel=0.08)

    def test_a_count_that_is_fixed_has_no_error(self, little):
        row = corruption.shares(little, little.tokenizer.encode("the cat sat on"), Mix(chosen=0.5), 20).iloc[0]
        assert row["low"] == row["observed"] == row["high"] == 0.5

    def test_a_short_text_of_whole_words_gives_one_of_its_words(self, little):
        row = corruption.shares(little, little.tokenizer.encode("playing dogs ran"), Mix(whole_words=True), 4000).iloc[0]
        assert row["expected"] == pytest.approx(1 / 3)
        assert row["low"] <= 1 / 3 <= row["high"]

    @pytest.mark.parametrize("whole", [False, True])
    def test_special_tokens_are_never_chosen(self, little, whole):
        encoding = little.tokenizer.encode("my dog likes playing", "he ran")
        ids = np.repeat([encoding.ids], 200, axis=0)
        fate = masked(ids, little.tokenizer, Mix(chosen=1.0, whole_words=whole), np.random.default_rng(0)).fate
        special = np.array([token.special for token in encoding.tokens])
        assert (fate[:, special] == UNTOUCHED).all() and (fate[:, ~special] != UNTOUCHED).all()

    def test_labels_undo_the_masking(self, little):
        encoding = little.tokenizer.encode(TEXT)
        for seed in range(20):
            read, fate = corruption.drawn(little, encoding, Mix(0.4, 0.3, 0.3, chosen=0.5), seed)
            mended = np.where(fate == UNTOUCHED, read.ids, encoding.ids)
            assert mended.tolist() == encoding.ids
            assert all(read.ids[place] == little.tokenizer.mask for place in np.flatnonzero(fate == MASKED))
            assert all(read.ids[place] == encoding.ids[place] for place in np.flatnonzero(fate == KEPT))
            drawn = [read.ids[place] for place in np.flatnonzero(fate == RANDOM)]
            assert not set(drawn) & little.tokenizer.special_ids

    def test_the_interval_holds_the_share_and_narrows(self):
        low, high = corruption.interval(10, 100)
        assert low < 0.1 < high
        finer = corruption.interval(1000, 10000)
        assert finer[1] - finer[0] < (high - low) / 5
        assert corruption.interval(0, 50)[0] == 0 and corruption.interval(50, 50)[1] == 1


class TestModel:
    def test_a_kept_word_is_read_by_the_unchanged_model(self, english):
        encoding = english.tokenizer.encode("The dog chased the cat.")
        hidden, noise, kept = corruption.fates(english, encoding, 2, english.tokenizer.id("apple"))
        true = encoding.ids[2]
        assert kept[true] > 0.8 > hidden[true]
        assert noise[true] < kept[true]

    def test_the_mismatch_is_seen_on_the_shipped_model(self, english):
        text = ["She poured a cup of hot tea and sat down.", "The old man walked slowly along the river."]
        table = corruption.mismatch(english, [english.tokenizer.encode(one) for one in text], most=12)
        hidden, noise, kept = table.to_dict("records")
        assert kept["accuracy"] > hidden["accuracy"]
        assert noise["noticed"] > kept["noticed"]
        assert table["positions"].tolist() == [12, 12, 12]

    def test_a_text_without_words_is_said(self, little):
        with pytest.raises(InputProblem, match="no word"):
            corruption.mismatch(little, [little.tokenizer.encode_ids([little.tokenizer.mask])])


class TestMarks:
    def test_marks_survive_the_address(self):
        marks = [query.Mark(1, 2, "mask"), query.Mark(4, 6, "replace", "a.b-c/ü 3"), query.Mark(7, 8, "ask")]
        assert query.read(query.written(marks)) == marks

    @pytest.mark.parametrize("text", ["", "x", "1-", "3-4z", "-1-2m", "²-3m", "1-²m", "....", "9" * 400])
    def test_nonsense_in_the_address_is_no_mark(self, text):
        assert query.read(text) == []

    def test_marks_of_another_text_are_dropped(self, little):
        encoding = little.tokenizer.encode("the cat")
        wrong = [query.Mark(0, 1, "mask"), query.Mark(2, 4, "mask"), query.Mark(50, 51, "ask")]
        assert query.fitting(encoding, [*wrong, query.Mark(1, 2, "ask")]) == [query.Mark(1, 2, "ask")]

    def test_a_longer_replacement_moves_the_blanks_behind_it(self, little):
        encoding = little.tokenizer.encode("the cat sat on the mat")
        asked = query.question(little, encoding, [query.Mark(2, 3, "replace", "dogs"), query.Mark(6, 7, "mask")])
        assert [t.text for t in asked.encoding.tokens][2:4] == ["dog", "##s"]
        assert asked.blanks == (query.Blank(7, 8, False, (encoding.ids[6],)),)
        assert asked.encoding.ids[7] == little.tokenizer.mask and asked.open.ids[7] == encoding.ids[6]

    def test_a_kept_word_is_asked_for_in_sight(self, little):
        encoding = little.tokenizer.encode("the cat sat")
        asked = query.question(little, encoding, [query.Mark(2, 3, "ask")])
        assert asked.encoding.ids == encoding.ids and asked.positions == [2] and asked.masked == []
        with pytest.raises(InputProblem, match="mask the word"):
            query.standing(little, asked, asked.blanks[0], "playing")

    def test_nothing_marked_is_said(self, little):
        with pytest.raises(InputProblem, match="No word is chosen"):
            query.question(little, little.tokenizer.encode("the cat"), [])


class TestTrials:
    @pytest.fixture(scope="class")
    def run(self, tmp_path_factory):
        folder = tmp_path_factory.mktemp("trials")
        asked = [training_runs.described(trial) for trial in (training_runs.named("80/10/10"), *training_runs.SIGHTS[:2])]
        said = list(training_runs.run(folder, asked, [0], TINY))
        return folder, asked, said

    def test_every_model_is_trained_and_measured(self, run):
        folder, _, said = run
        table = training_runs.results(folder)
        assert table["trial"].tolist() == ["80/10/10", "left", "right", "averaged"]
        assert table[["masked"]].notna().all().all()
        assert 0 <= table.loc[0, "probe"] <= 1 and 0 <= table.loc[0, "tuned"] <= 1
        fractions = [one["fraction"] for one in said]
        assert fractions == sorted(fractions) and fractions[-1] == 1.0

    def test_what_is_finished_is_not_done_again(self, run):
        folder, asked, _ = run
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("model.safetensors")}
        assert not [one for one in training_runs.run(folder, asked, [0], TINY) if one.get("step")]
        assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("model.safetensors")}

    def test_a_stopped_run_goes_on(self, tmp_path):
        asked = [training_runs.described(training_runs.named("100/0/0"))]
        running = training_runs.run(tmp_path, asked, [0], TINY)
        for progress in running:
            if progress.get("step") == 3:
                break
        running.close()
        steps = [one["step"] for one in training_runs.run(tmp_path, asked, [0], TINY) if one.get("step")]
        assert min(steps) == 4 and max(steps) == 6

    def test_a_corpus_of_ones_own_has_no_labels(self, tmp_path):
        corpus = "\n\n".join(smallworld.documents(5, 60))
        (tmp_path / "corpus.txt").write_text(corpus, encoding="utf-8")
        asked = [training_runs.described(training_runs.named("50/25/25"))]
        list(training_runs.run(tmp_path, asked, [0], TINY | {"vocabulary": 300}, "corpus.txt"))
        table = training_runs.results(tmp_path)
        assert "masked" in table and "probe" not in table

    def test_a_mix_is_read_in_the_papers_order(self):
        assert training_runs.named("80/20/0").mix == Mix(0.8, 0, 0.2)
        assert {trial.name: trial.mix for trial in training_runs.STRATEGIES}["0/20/80"] == Mix(0, 0.8, 0.2)

    @pytest.mark.parametrize("name", ["80/10", "a/b/c", "", "50/50/50"])
    def test_what_is_no_mix_is_said(self, name):
        with pytest.raises(InputProblem):
            training_runs.named(name)

    def test_too_small_a_corpus_is_said(self, tmp_path):
        (tmp_path / "one.txt").write_text("A sentence. Another one.", encoding="utf-8")
        with pytest.raises(InputProblem, match="too small"):
            list(training_runs.run(tmp_path, [training_runs.described(training_runs.SIGHTS[2])], [0], TINY, "one.txt"))


class TestLearned:
    def test_the_labels_belong_to_the_words(self, little):
        world = model.Bert.random(model.BertConfig(smallworld.tokenizer().size, 16, 1, 2, 32, 128), smallworld.tokenizer())
        lessons, _, questions = evaluation.sheets(world)
        for (row, place), form in list(zip(lessons.places, lessons.forms, strict=True))[:200]:
            assert lessons.encodings[row].tokens[place].text == form
        assert 0.3 < evaluation.by_word(lessons, questions) < 0.8


class TestShipped:
    @pytest.mark.parametrize("name, count", [("strategies", 6), ("sight", 4)])
    def test_every_trial_has_three_seeds_and_its_command(self, name, count):
        table = bundled.results(name)
        assert table.groupby("trial")["seed"].nunique().tolist() == [3] * count
        assert bundled.command(name).startswith("python3 run.py strategies")
        assert json.loads(json.dumps(bundled.settings(name)))["seeds"] == [0, 1, 2]

    @pytest.mark.parametrize("name", ["strategies", "sight"])
    def test_every_model_beats_the_commonest_word_and_none_the_best_possible(self, name):
        table = bundled.results(name)
        assert float(table["masked"].min()) > float(table["masked_common"].max())
        assert float(table["masked"].max()) < bundled.ceiling(name)

    def test_naming_words_in_sight_is_learned_from_kept_words_alone(self):
        means = bundled.results("strategies").groupby("trial")["unmasked"].mean().to_dict()
        assert means["80/20/0"] > means["80/10/10"] > means["80/0/20"] > means["100/0/0"]

    def test_the_shipped_sights_answer_with_the_sight_they_learned(self):
        trained = {name: model.load(folder) for name, folder in bundled.sights().items()}
        pieces = trained["both"].tokenizer
        greeted, smiled = (directions.trained(trained, pieces.encode(f"The seller [MASK] {end}"), 3)
                           for end in ("them and sold them the apples.", "and sold them the apples."))
        np.testing.assert_allclose(greeted["left"], smiled["left"], atol=1e-6)
        for name in ("right", "both"):
            assert greeted[name][pieces.id("greeted")] > smiled[name][pieces.id("greeted")], name

    def test_both_directions_at_once_are_ahead_of_each_side_with_every_seed(self):
        by_trial = bundled.results("sight").pivot(index="seed", columns="trial", values="masked")
        assert bool((by_trial["both"] > by_trial[["left", "right"]].max(axis=1)).all())

    def test_the_lead_is_over_the_better_single_side(self):
        table = pd.DataFrame({"trial": ["left", "right", "both"], "masked": [0.4, 0.5, 0.45]})
        assert directions.lead(table) == pytest.approx(-0.05)
