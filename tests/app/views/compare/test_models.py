"""Every model on offer can stand on either side of a comparison: itself, its random-init copy, snapshots of its training."""

from app.views.compare import models


def test_a_model_is_offered_with_its_random_init_copy_and_its_snapshots(tiny_bert, tmp_path, monkeypatch):
    tiny_bert.save(tmp_path / "mine")
    tiny_bert.save(tmp_path / "mine" / "snapshots" / "0000100")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    options = models.offered()
    labels = {slug: option.label for slug, option in options.items()}
    assert {"english", "english~random", "mine", "mine~random", "mine~100"} <= set(labels)
    assert labels["mine~random"] == "mine, random weights"
    assert labels["mine~100"] == "mine, step 100"
    assert options["mine~100"].path == tmp_path / "mine" / "snapshots" / "0000100"
