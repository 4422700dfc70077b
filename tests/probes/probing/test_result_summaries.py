"""What a page quotes of a probing result: its best row, its shortest code, the commonest mistake."""

import dataclasses

from probes import bundled
from probes.probing import results

RESULT = bundled.probing()["english-upos"]


def test_the_best_row_has_the_highest_mean_score_of_all_layers():
    rows, best = results.table(RESULT), results.best_row(RESULT)
    assert float(best["score"]) == float(best["accuracy"]) == float(rows["accuracy"].max())
    assert int(best["layer"]) == rows.loc[rows["accuracy"] == best["score"], "layer"].min()


def test_the_shortest_code_is_that_of_the_layer_with_the_fewest_bits():
    rows = [
        row | {"code_length": 100.0 - row["layer"], "control_code_length": 200.0, "uniform_code_length": 300.0}
        for row in RESULT.rows
    ]
    shortest = results.shortest_code(dataclasses.replace(RESULT, rows=rows))
    last = max(row["layer"] for row in rows)
    assert (shortest["layer"], shortest["code_length"]) == (last, 100.0 - last)


def test_the_commonest_mistake_is_the_largest_number_off_the_diagonal():
    summary = results.summarise_confusion([[9, 1, 0], [2, 3, 5], [0, 0, 7]], ["noun", "verb", "other"])
    assert (summary.n_correct, summary.n_total) == (19, 27)
    assert (summary.gold, summary.predicted, summary.count) == ("verb", "other", 5)
    assert results.summarise_confusion([[4, 0], [0, 2]], ["noun", "verb"]).count == 0
