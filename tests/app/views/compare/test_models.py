"""Every model on offer can stand on either side of a comparison: itself, its random twin, moments of its training."""

from app.views.compare import models


def test_a_model_is_offered_with_its_twin_and_its_snapshots(little, tmp_path, monkeypatch):
    little.save(tmp_path / "mine")
    little.save(tmp_path / "mine" / "snapshots" / "0000100")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    offers = models.offered()
    assert {"english", "english, random weights", "mine", "mine, random weights", "mine, step 100"} <= set(offers)
    assert offers["mine, step 100"].path == tmp_path / "mine" / "snapshots" / "0000100"
