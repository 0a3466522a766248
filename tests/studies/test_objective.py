"""Functions by the name of their file."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from quadrat.errors import InvalidInput
from quadrat.studies import ObjectiveReference


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    (tmp_path / "beside_it.py").write_text("offset = 10\n")
    path.write_text(
        "from beside_it import offset\n"
        "number = 3\n"
        "def objective(params): return params['x'] + offset\n"
        "class Job:\n"
        "    @staticmethod\n"
        "    def run(params): return 7\n"
    )
    return path


def test_a_function_in_a_file_and_what_stands_beside_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = ObjectiveReference.read(f"{file}:objective")
    assert reference.load()({"x": 1}) == 11
    monkeypatch.chdir(file.parent)
    assert ObjectiveReference.read("train.py:objective") == reference, "however it is written"
    assert pickle.loads(pickle.dumps(reference)).load() is reference.load()  # noqa: S301
    assert ObjectiveReference.read(f"{file}:Job.run").load()({}) == 7


def test_a_function_in_a_module() -> None:
    assert ObjectiveReference.read("os.path:join").load()("a", "b") == "a/b"


@pytest.mark.parametrize("text", ["objective", "train.py", ":objective", "train.py:", ""])
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"expected FILE.py:function or package.module:function, got"):
        ObjectiveReference.read(text)


def test_what_is_not_there_is_refused(file: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file nowhere\.py"):
        ObjectiveReference.read("nowhere.py:objective")
    with pytest.raises(InvalidInput, match=r"a function missing in .*, got none; it has Job, objective"):
        ObjectiveReference.read(f"{file}:missing").load()
    with pytest.raises(InvalidInput, match=r"number in .* to be a function, got 3"):
        ObjectiveReference.read(f"{file}:number").load()
    with pytest.raises(InvalidInput, match=r"expected no.such.module to be importable, got ModuleNotFoundError"):
        ObjectiveReference.read("no.such.module:f").load()


@pytest.mark.parametrize("text", ["1 +", "raise RuntimeError('at import')", "import no_such_package"])
def test_a_file_that_cannot_be_imported_says_why(text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(text + "\n")
    with pytest.raises(InvalidInput, match=r"to be importable, got (SyntaxError|RuntimeError|ModuleNotFoundError): "):
        ObjectiveReference.read(f"{tmp_path / 'broken.py'}:f").load()
