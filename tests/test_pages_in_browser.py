"""The pages as a person opens them: from disk, in Chromium, with hostile text in them. Nothing may leave them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grpo.pages import render_page
from grpo.report import write_report
from grpo.run_folder import ROLLOUTS, RunFolder
from grpo.task import Prompt, Score
from pii.answer import render
from pii.document import Mention
from pii.outputs import Column, page_values
from tests.browser import Browser, chromium
from tests.toy import toy_config, toy_trainer

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (apt-get install chromium)")

HOSTILE = (
    '</script><script>document.title = "owned"</script><img src="http://127.0.0.1:9/x" onerror="alert(1)"> {{ 7*7 }}'
)
TEMPLATES = Path(__file__).resolve().parent.parent / "pii" / "templates"
LOOKS = [{}, {"dark": True}, {"width": 390, "height": 844}]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A run of three steps; the prompts and completions of the last are hostile, and of another type."""
    run = tmp_path_factory.mktemp("runs") / "toy"
    toy_trainer(run, steps=3, eval_every=3, eval_prompts=4).train()
    lines = RunFolder(run).read(ROLLOUTS)
    for line in lines:
        line["degenerate"] = line["group"] == 1
        if line["step"] == 3:
            line["prompt"]["messages"][-1]["content"] = HOSTILE
            line["prompt"]["type"] = "hostile " + HOSTILE
            line["completions"][0] |= {"text": HOSTILE, "gate": False, "reason": HOSTILE}
    (run / ROLLOUTS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return write_report(run)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Three documents: one that got worse and is hostile, one that stayed, one that got better."""
    texts = [HOSTILE + " Ram called 98765 43210.", "Sita, 34, came.", "Nobody here."]
    golds = [[Mention("Ram", "PERSON", 1), Mention("98765 43210", "PHONE", 2)], [Mention("Sita", "PERSON", 1)], []]
    prompts = [
        (split, Prompt((), f"key {split}", {"document": text, "gold": [list(one) for one in gold]}))
        for split, text, gold in zip(("held-out", "held-out", "external"), texts, golds, strict=True)
    ]
    before = Column(
        "before", [render(gold) for gold in golds[:2]] + ["no list " + HOSTILE], [Score(1), Score(1), Score(0)]
    )
    after = [[Mention("98765 43210", "BANK_ACCOUNT", 2), Mention(HOSTILE[:30], "URL", 3)], golds[1], []]
    columns = [before, Column("after", [render(one) for one in after], [Score(0.2), Score(1), Score(1)])]
    page = render_page(
        "outputs.html.j2",
        folder=TEMPLATES,
        title="Outputs",
        note="",
        script="outputs.js",
        **page_values(prompts, columns),
    )
    file = tmp_path_factory.mktemp("pages") / "outputs.html"
    file.write_text(page, encoding="utf-8")
    return file


def opened(browser, file, **look):
    browser.look(**({"width": 1200} | look))
    browser.requests.clear()
    browser.errors.clear()
    browser.open(file)


def choose(browser, name, value):
    browser.run(
        f"document.getElementById('{name}').value = {json.dumps(value)};"
        f"document.getElementById('{name}').dispatchEvent(new Event('change'))"
    )


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "phone"])
@pytest.mark.parametrize("page", ["report", "outputs"])
def test_no_script_error_no_request_and_no_sideways_scrolling(browser, page, look, request):
    file = request.getfixturevalue(page)
    opened(browser, file, **look)
    assert browser.errors == []
    assert browser.requests == [file.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= look.get("width", 1200)
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(22, 23, 26)" if look.get("dark") else "rgb(251, 250, 248)")


@pytest.mark.parametrize("page", ["report", "outputs"])
def test_hostile_text_is_shown_as_text(browser, page, request):
    opened(browser, request.getfixturevalue(page))
    if page == "report":
        choose(browser, "step", "2")
    text = browser.run("document.body.innerText")
    assert HOSTILE in text
    assert browser.run("document.title") != "owned"
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == (2 if page == "report" else 1)
    assert browser.errors == [] and len(browser.requests) == 1


def test_a_script_that_slipped_in_would_not_run(browser, tmp_path):
    page = render_page("report.html.j2", title="x", script="report.js", data={"steps": [], "texts": []}, rollouts=True)
    file = tmp_path / "page.html"
    file.write_text(page.replace("</main>", "<script>document.title = 'owned'</script></main>"), encoding="utf-8")
    opened(browser, file)
    assert browser.run("document.title") == "x"
    assert any("Content Security Policy" in error for error in browser.errors)


def test_rollouts_are_browsed_by_step_and_filtered(browser, report):
    opened(browser, report)
    config = toy_config("x")

    def cards():
        return browser.run("document.querySelectorAll('#groups article').length")

    def click(name):
        browser.run(f"document.getElementById('{name}').click()")

    assert browser.run("document.getElementById('count').innerText").startswith("step 1: ")
    assert cards() == config.prompts_per_step
    rows = "document.querySelectorAll('#groups article:first-child td.completion').length"
    assert browser.run(rows) == config.group_size
    assert browser.run("document.getElementById('back').disabled") is True
    click("on")
    click("on")
    assert browser.run("document.getElementById('count').innerText").startswith("step 3: ")
    assert browser.run("document.getElementById('on').disabled") is True
    click("back")
    assert browser.run("document.getElementById('count').innerText").startswith("step 2: ")
    choose(browser, "type", "sevens")
    assert browser.run("document.getElementById('step').length") == 2
    choose(browser, "type", "hostile " + HOSTILE)
    assert browser.run("document.getElementById('count').innerText").startswith("step 3: ")
    click("taught")
    assert cards() == config.prompts_per_step - 1
    choose(browser, "type", "")
    assert browser.run("document.getElementById('step').length") == 3
    assert browser.errors == []


def test_outputs_are_filtered_by_split_type_and_fault_and_sorted(browser, outputs):
    opened(browser, outputs)
    shown = (
        "[...document.querySelectorAll('#documents article')].filter(a => !a.hidden).map(a => a.dataset.place).join()"
    )
    # Worst change first.
    assert browser.run(shown) == "0,1,2"
    choose(browser, "order", "-change")
    assert browser.run(shown) == "2,1,0"
    choose(browser, "order", "reward")
    assert browser.run(shown) == "0,1,2"
    choose(browser, "split", "external")
    assert browser.run(shown) == "2"
    choose(browser, "split", "")
    choose(browser, "kind", "missed")
    assert browser.run(shown) == "0"
    choose(browser, "type", "PHONE")
    assert browser.run(shown) == ""
    assert browser.run("document.getElementById('count').innerText") == "0 of 3 documents"
    choose(browser, "kind", "wrong type")
    assert browser.run(shown) == "0"
    choose(browser, "kind", "")
    choose(browser, "type", "PERSON")
    assert browser.run(shown) == "0,1"
    marks = "document.querySelector('article[data-place=\"0\"] section').querySelectorAll('mark').length"
    assert browser.run(marks) == 2
    assert browser.errors == []
