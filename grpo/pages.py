"""HTML pages that stand alone: one file, nothing loaded from anywhere, text of any origin shown as text.

What a page shows is escaped by jinja2 or handed over as JSON and written with textContent. Behind that stands a content
security policy that lets the page load nothing, and run its one script alone, known by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

TEMPLATES = Path(__file__).resolve().parent / "templates"


def render_page(
    template: str, *, title: str, script: str = "", data: Any = None, folder: Path | None = None, **values: Any
) -> str:
    """A page from a template that extends base.html.j2.

    script: file name of the page's script. data: what the script finds, as JSON, in the element #data. folder: where
    template and script are looked for first; this module's templates come after it.
    """
    folders = [TEMPLATES] if folder is None else [folder, TEMPLATES]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    code = ""
    if script:
        code = next(path for path in (one / script for one in folders) if path.is_file()).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(code.encode("utf-8")).digest()).decode()
    return environment.get_template(template).render(
        title=title,
        style=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup(code),
        script_source=f"'sha256-{digest}'" if code else "'none'",
        data=None if data is None else json_for_html(data),
        **values,
    )


def json_for_html(data: Any) -> Markup:
    """JSON that can stand inside a script element: no `<`, so neither `</script>` nor `<!--`, whatever the strings."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Lone surrogates have no UTF-8 form; as escapes they are legal JSON.
    text = text.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return Markup(text.replace("<", "\\u003c"))
