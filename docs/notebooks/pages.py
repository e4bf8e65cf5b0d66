"""A hook of MkDocs: runs the notebooks of this folder, and makes a page of each with its outputs.

The notebooks lie here without outputs, so that a change of one can be read as text. What a run
gives is kept in build/notebooks, by a digest of the notebook and of all code that it may use: an
unchanged notebook is not run again. `python docs/notebooks/pages.py --strip` takes outputs out.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEPT = ROOT / "build" / "notebooks"
SECONDS = 600  # for one cell, on a busy computer
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def notebooks() -> list[Path]:
    """The notebooks, by name."""
    return sorted(HERE.glob("*.ipynb"))


def executed(path: Path) -> NotebookNode:
    """A notebook with its outputs, and what it took; a cell that fails is an error."""
    kept = KEPT / f"{path.stem}-{_digest(path)}.ipynb"
    if kept.is_file():
        return nbformat.read(kept, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # In an empty folder, where a notebook may write; with the features that it computes itself.
        environment = {**os.environ, "SSDPT_CACHE": f"{folder}/cache", "OMP_NUM_THREADS": "1"}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        before = _cpu_seconds()
        client.execute(env=environment)
        notebook.metadata["cpu_seconds"] = round(_cpu_seconds() - before, 1)
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    nbformat.write(notebook, kept)
    return notebook


def _cpu_seconds() -> float:
    """Of kernels that have ended; hardly depends on what else the computer does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _digest(path: Path) -> str:
    """Changes with everything that the outputs depend on, the versions of packages included."""
    content = hashlib.blake2b(digest_size=12)
    source = sorted((ROOT / "src" / "ssdpt").rglob("*"))
    code = [file for file in source if file.suffix in {".py", ".yaml", ".safetensors", ".json"}]
    for file in (path, Path(__file__).resolve(), ROOT / "constraints.txt", *code):
        content.update(file.relative_to(ROOT).as_posix().encode())
        content.update(file.read_bytes())
    return content.hexdigest()


def markdown(notebook: NotebookNode, name: str) -> str:
    """The page: text, code, and what the code shows."""
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code" and cell.source.strip():
            parts.append(f"```python\n{cell.source}\n```")
            parts += [text for output in cell.outputs if (text := _output(output))]
    title, rest = parts[0], parts[1:]
    link = (
        f"[Download the notebook]({name}.ipynb). Its outputs below are made with the site, in "
        f"{notebook.metadata.cpu_seconds:.0f} s of CPU time."
    )
    return "\n\n".join([title, link, *rest, ""])


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return _block(_text(output.text))
    data = output.get("data", {})
    if "text/html" in data:
        # An empty line would end the HTML within Markdown.
        return _block(re.sub(r"\n\s*\n", "\n", data["text/html"]))
    if "image/png" in data:
        png = base64.b64encode(base64.b64decode(data["image/png"])).decode()
        return _block(f'<img alt="What the code above draws" src="data:image/png;base64,{png}">')
    return _block(_text(data["text/plain"])) if data.get("text/plain") else ""


def _text(text: str) -> str:
    """As a terminal would show it; long lines scroll. An empty line would end the HTML."""
    shown = html.escape(_ANSI.sub("", text).rstrip()).replace("\n\n", "\n&#8203;\n")
    return f'<pre style="overflow-x:auto">{shown}</pre>'


def _block(content: str) -> str:
    return f'<div class="notebook-output">{content}</div>'


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page of every notebook to the site."""
    from mkdocs.structure.files import File

    for path in notebooks():
        page = markdown(executed(path), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    return files


def on_page_markdown(text: str, *, page: Any, **_: Any) -> str:
    """In the repository a link leads to the notebook, in the site to its page."""
    return re.sub(r"(\]\([^)\s]*notebooks/\w+)\.ipynb\)", r"\1.md)", text)


def strip() -> None:
    """Take outputs and the traces of a run out of the notebooks."""
    for path in notebooks():
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.metadata = {}
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebook.metadata = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        nbformat.write(notebook, path)


if __name__ == "__main__":
    if sys.argv[1:] == ["--strip"]:
        strip()
    else:
        for notebook_path in notebooks():
            executed(notebook_path)
