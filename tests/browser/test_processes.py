"""Two processes behind one address: a killed one takes nothing along but its open pages, and those come back."""

import os
import re
import signal

import psutil
import pytest
from playwright.sync_api import expect

from app.rehearsal import classroom


@pytest.fixture
def door(tmp_path):
    with classroom.serving("--processes", "2", folder=tmp_path) as (address, process):
        classroom.addresses(address, 2, process)
        yield address, process.pid


def test_a_page_of_a_killed_process_comes_back_at_the_other_with_its_sentence(chromium, door):
    address, pid = door
    page = chromium.new_context().new_page()
    page.goto(f"{address}/mask?a=My%20cat%20sleeps.&b=")
    expect(page.get_by_label("Sentence A", exact=True)).to_have_value("My cat sleeps.")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    port = page.url.removeprefix("http://").split("/")[0].split(":")[1]
    (victim,) = (child for child in psutil.Process(pid).children() if port in child.cmdline())
    os.kill(victim.pid, signal.SIGKILL)
    expect(page.get_by_text("Cut off from the server")).to_be_visible()
    page.wait_for_url(re.compile(rf":(?!{port})\d+/mask\?"), timeout=120_000)
    expect(page.get_by_label("Sentence A", exact=True)).to_have_value("My cat sleeps.")
    page.context.close()
