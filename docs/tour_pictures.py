"""Take the pictures of the tour again: `.venv/bin/python docs/tour_pictures.py` (BERTSCOPE_CHROMIUM names a browser)."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PICTURES = ROOT / "docs" / "pictures"
SIZE = ViewportSize(width=1024, height=700)
COLOURS = 96  # enough for flat charts; keeps a picture below 120 kB
LIMIT = 120_000  # bytes
CHART = ".js-plotly-plot:visible"
DRAWN = """() => !document.querySelector('[data-testid=stSkeleton]')
  && [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every((chart) => chart.querySelector('svg.main-svg'))"""
WHOLE = {"attention", "strategies", "input"}  # shown from their top; the others from their first chart
ADDRESSES = {
    "start": "/",
    "lessons": "/lessons",
    "input": "/input",
    "attention": "/attention",
    "states": "/states",
    "mask": "/mask",
    "strategies": "/strategies",
    "next-sentence": "/next-sentence",
    "probes": "/probes",
    "train": "/train",
    "fine-tune": "/fine-tune",
    "compare": "/compare",
}


def main() -> None:
    from tests.browser.conftest import settled
    from tests.conftest import serving

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "models").mkdir()
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("BERTSCOPE_CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        with serving(folder / "models", folder) as address:
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            for title, path in ADDRESSES.items():
                page.goto(address + path)
                settled(page)
                page.wait_for_function(DRAWN, timeout=60_000)
                if title not in WHOLE and page.locator(CHART).count():
                    page.locator(CHART).first.scroll_into_view_if_needed()
                print(f"{title}: {picture(page, PICTURES / f'tour-{title}.png'):,} bytes", flush=True)
        browser.close()


def picture(page: Page, file: Path) -> int:
    """The screen as a PNG of few colours; its size in bytes."""
    page.screenshot(path=file)
    colours = COLOURS
    while colours >= 16:
        with Image.open(file) as image:
            image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(file, optimize=True)
        if file.stat().st_size <= LIMIT:
            break
        colours //= 2
    return file.stat().st_size


if __name__ == "__main__":
    main()
