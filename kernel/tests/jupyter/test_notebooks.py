"""Runs the notebooks of `examples/notebooks/` and compares what they show with what they contain.

The program is `NESL_BINARY`, or the one of the last debug build. `NESL_UPDATE_NOTEBOOKS=1` writes the
new outputs into the notebooks instead; look at the difference before you commit it. Outputs of cells
with the tag `varies` (times, devices, addresses) are only compared in their kinds.
"""

import os
import re
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# How long a cell may take, in seconds: an unoptimized build on a busy machine is slow.
CELL_SECONDS = 300

# What is not compared: rules of style, and the boxes around definitions, of which there are more if the
# definitions come one by one.
LOOKS = re.compile(r"<style>.*?</style>|</?div[^>]*>\n?", re.DOTALL)

# The forms of an output that are kept and compared: the others are made from the same data.
KEPT = ("text/plain", "text/html", "image/svg+xml")


@pytest.fixture(scope="session", autouse=True)
def kernelspec(tmp_path_factory):
    """Installs the kernel into a folder of its own, where Jupyter looks first."""
    binary = os.environ.get("NESL_BINARY", str(ROOT / "target" / "debug" / "nesl"))
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run([binary, "kernel", "install", "--prefix", str(prefix)], check=True)
    before = os.environ.get("JUPYTER_PATH")
    paths = [str(prefix / "share" / "jupyter")] + ([before] if before else [])
    os.environ["JUPYTER_PATH"] = os.pathsep.join(paths)
    yield
    if before is None:
        del os.environ["JUPYTER_PATH"]
    else:
        os.environ["JUPYTER_PATH"] = before


def shown(cell):
    """What a cell shows, form by form, all outputs together: whether definitions that follow each other
    are one output or several, and which value is the result of the cell, depends on time."""
    if "varies" in cell.metadata.get("tags", []):
        return {"error" if output.output_type == "error" else "output" for output in cell.outputs}
    parts = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.setdefault(output.name, []).append(output.text)
        elif output.output_type == "error":
            parts.setdefault(output.ename, []).append("\n".join(output.traceback))
        else:
            for form, data in forms(output).items():
                parts.setdefault(form, []).append(data + "\n")
    return {form: LOOKS.sub("", "".join(texts)).strip() for form, texts in parts.items()}


def forms(output):
    """The forms of an output that are kept: of a picture not the words that stand for it, and of a plot not
    its specification, which is long."""
    return {
        form: data
        for form, data in output.data.items()
        if form in KEPT
        and data.strip()
        and not (form == "text/html" and "image/svg+xml" in output.data)
    }


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="nesl",
        timeout=CELL_SECONDS,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_as_kept(path):
    kept = nbformat.read(path, as_version=4)
    fresh = execute(path)
    for before, after in zip(kept.cells, fresh.cells):
        if before.cell_type != "code" or shown(after) == shown(before):
            continue
        if os.environ.get("NESL_UPDATE_NOTEBOOKS"):
            # A notebook whose answers are the same keeps its times too.
            return write(fresh, path)
        assert shown(after) == shown(before), f"cell {before.id}:\n{before.source}"


def write(notebook, path):
    """Writes a notebook so that two runs differ only in what they show."""
    notebook.metadata = {
        "kernelspec": {"name": "nesl", "display_name": "NESL", "language": "nesl"},
        "language_info": notebook.metadata.get("language_info", {}),
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data = forms(output)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("data", True)]
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")


def test_notebooks_are_well_formed():
    assert len(NOTEBOOKS) >= 11
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "nesl", path
        ids = [cell.id for cell in notebook.cells]
        assert len(ids) == len(set(ids)), path
        assert notebook.cells[0].source.startswith("# "), path


def test_links_lead_somewhere():
    """Links between notebooks, and the data that cells read, are there."""
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                names = re.findall(r"\]\(([^)#]+)\)", cell.source)
                names = [name for name in names if "://" not in name]
            else:
                names = re.findall(r'"(data/[^"]+)"', cell.source)
            for name in names:
                assert (FOLDER / name).exists(), f"{path.name}, cell {cell.id}: {name}"
