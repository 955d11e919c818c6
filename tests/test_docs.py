"""What the documentation shows, runs: every ```python block of README.md and docs/*.md.

The blocks of one file share a namespace, in order. A block with `>>>` prompts is checked against the output it shows.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")] if path.exists())
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    """(line number of the first line, code) of each python block."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)), match.group(1)) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run_and_print_what_they_show(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": page.stem}
    for line, code in blocks(page):
        if ">>> " in code:
            examples = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line)
            examples.globs = namespace
            report: list[str] = []
            doctest.DocTestRunner(verbose=False).run(examples, out=report.append, clear_globs=False)
            assert not report, "".join(report)
        else:
            # Blank lines first, so that a traceback's line number is the page's.
            exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_there_are_pages_with_blocks() -> None:
    assert any(blocks(page) for page in PAGES)
