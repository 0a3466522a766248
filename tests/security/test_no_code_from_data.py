"""Nothing that comes from a file, a storage or a space is ever run: in the source, and when it is tried.

FILE.py:function, which somebody names on the command line, is the only code that Quadrat loads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.security.captured import Said, run_command
from tests.security.forbidden import found_in
from tests.security.study_example import quiet, write_study

import quadrat
from quadrat.errors import InvalidInput
from quadrat.methods.registry import read_method
from quadrat.space import Space

PACKAGE = Path(quadrat.__file__).parent
ALLOWED = {
    "studies/objective.py": 4,  # FILE.py:function: what somebody asks to run
    "_core/lazy_names.py": 3,  # names of this package, which its own __init__ lists
    "_core/moved.py": 1,  # names of modules, which a table in the same file lists
    "loop/workers.py": 1,  # pickle: an exception is read back where it was pickled, to see whether that works
    "plots/style.py": 1,  # plotly, by two names that stand in the same file
    "studies/optuna_names.py": 1,  # modules of Optuna that a table in the same file lists
}
MARKER = "ran_what_was_data"
ESCAPE = "\x1b[2J\x1b]0;title\x07"


def attacks(folder: Path) -> list[str]:
    """Texts that would leave a file behind if anything ran them."""
    marker = str(folder / MARKER)
    return [
        f"__import__('pathlib').Path({marker!r}).touch()",
        f"cposix\nsystem\n(S'touch {marker}'\ntR.",
        f"!!python/object/apply:os.system ['touch {marker}']",
        f"$(touch {marker})",
        f"`touch {marker}`",
        f"; touch {marker}",
        "{0.__class__.__init__.__globals__}",
        "<script>alert(1)</script>",
        ESCAPE,
    ]


class Payload:
    """Pickled, an order to make a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


def test_no_module_runs_data() -> None:
    found = {
        str(path.relative_to(PACKAGE)): wrong
        for path in sorted(PACKAGE.rglob("*.py"))
        if (wrong := found_in(path))
    }  # fmt: skip
    assert {name: len(wrong) for name, wrong in found.items()} == ALLOWED, found


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import cloudpickle as quick",
        "import marshal, json",
        "eval('1')",
        "exec(text)",
        "run = eval",
        "from builtins import exec",
        "compile(text, 'f', 'exec')",
        "__import__(name)",
        "importlib.import_module(name)",
        "import_module(f'{package}.{name}')",
        "spec.loader.exec_module(module)",
        "import yaml",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=trusted)",
        "subprocess.run(command, shell=True)",
        "os.system(command)",
        "from os import system",
        "joblib.load(path)",
        "frame.to_pickle(path)",
        "runpy.run_path(path)",
    ],
)
def test_the_check_sees(line: str, tmp_path: Path) -> None:
    source = tmp_path / "bad.py"
    source.write_text(f"def f(text, name):\n    {line}\n")
    assert found_in(source)


@pytest.mark.parametrize(
    "line", ["re.compile('a')", "import_module('plotly')", "import_module(f'quadrat.{name}')", "np.load(path)"]
)
def test_the_check_lets_pass(line: str, tmp_path: Path) -> None:
    source = tmp_path / "good.py"
    source.write_text(line + "\n")
    assert not found_in(source)


@pytest.mark.parametrize("kind", ["json", "toml"])
def test_a_space_file_is_only_text(kind: str, tmp_path: Path) -> None:
    """Texts come back as they are; types and keys that are not ours are refused."""
    texts = attacks(tmp_path)
    path = tmp_path / f"space.{kind}"
    quoted = [json.dumps(text) for text in texts]
    if kind == "json":
        path.write_text(f'{{{quoted[0]}: {{"type": "categorical", "choices": [{", ".join(quoted)}]}}}}')
    else:
        path.write_text(f'[{quoted[0]}]\ntype = "categorical"\nchoices = [{", ".join(quoted)}]\n')
    space = Space.from_file(path)
    assert space.from_unit([1.0]) == {texts[0]: texts[-1]}
    for text in texts:
        wrong: dict[str, dict[str, Any]] = {"x": {"type": text, "low": 0, "high": 1}}
        with pytest.raises(InvalidInput, match="expected type to be one of"):
            Space.from_dict(wrong)
        with pytest.raises(InvalidInput, match="unknown key"):
            Space.from_dict({"x": {"type": "float", "low": 0, "high": 1, text: 1}})
    assert not (tmp_path / MARKER).exists()


def commanded(folder: Path, journal: Path) -> list[Said]:
    """What every command that only reads says of a study."""
    commands = (("export",), ("show",), ("ask", "--json"), ("tell", "4", "0.5", "--json"))
    with quiet():
        return [run_command([*command, "--storage", str(journal)]) for command in commands]


def test_a_study_is_only_text(tmp_path: Path) -> None:
    """Attributes, names and parameters of a journal that somebody else wrote; terminals get no escape sequences."""
    texts = attacks(tmp_path)
    journal = tmp_path / "study.journal"
    write_study(journal)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    evil = "".join(texts)
    for record in records:
        record["study_name"] = evil if "study_name" in record else None
        if "quadrat:failure" in record.get("user_attr", {}):
            record["user_attr"] = {"quadrat:failure": evil}
    records.append({**next(one for one in records if "user_attr" in one), "user_attr": {evil: {"py/reduce": texts}}})
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    said = commanded(tmp_path, journal)
    assert [one.status for one in said] == [0] * len(said), said
    assert "\x1b" not in "".join(one.out + one.err for one in said)
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize("attribute", ["quadrat:method", "quadrat:space", "quadrat:seed"])
def test_what_decides_how_a_study_goes_on_is_checked(attribute: str, tmp_path: Path) -> None:
    journal = tmp_path / "study.journal"
    write_study(journal, finished=1)
    for text in attacks(tmp_path):
        changed = tmp_path / "changed.journal"
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        for record in lines:
            if attribute in record.get("user_attr", {}):
                record["user_attr"] = {attribute: text}
        changed.write_text("".join(json.dumps(record) + "\n" for record in lines))
        with quiet():
            said = run_command(["ask", "--storage", str(changed)])
        assert (said.status, said.err.count("\n")) == (2, 1), said
        assert "\x1b" not in said.err
    assert not (tmp_path / MARKER).exists()


def test_a_pickle_is_no_journal_no_space_and_no_table(tmp_path: Path) -> None:
    import pickle

    payload = pickle.dumps(Payload(tmp_path / MARKER))
    for name in ("study.journal", "space.json", "space.toml", "results.csv"):
        (tmp_path / name).write_bytes(payload)
    where = {name: str(tmp_path / name) for name in ("study.journal", "space.json", "space.toml", "results.csv")}
    good = tmp_path / "good.journal"
    write_study(good, finished=1)
    for arguments in (
        ["show", "--storage", where["study.journal"]],
        ["ask", "--storage", str(tmp_path / "new"), "--space", where["space.json"]],
        ["ask", "--storage", str(tmp_path / "new"), "--space", where["space.toml"]],
        ["tell", "--storage", str(good), "--csv", where["results.csv"]],
    ):
        said = run_command(arguments)
        assert (said.status, said.err.count("\n")) == (2, 1), said
    assert not (tmp_path / MARKER).exists()
    pickle.loads(payload)  # noqa: S301  # the payload does what it should, where somebody loads it
    assert (tmp_path / MARKER).exists()


def test_a_table_is_only_text(tmp_path: Path) -> None:
    journal, table = tmp_path / "study.journal", tmp_path / "results.csv"
    write_study(journal, finished=1)
    before = journal.read_bytes()
    for text in attacks(tmp_path):
        table.write_text(f'x,kind,n,value\n0.5,"{text}",,1.0\n')
        said = run_command(["tell", "--storage", str(journal), "--csv", str(table)])
        assert (said.status, said.err.count("\n")) == (2, 1), said
        assert "\x1b" not in said.err
    assert journal.read_bytes() == before
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize(
    "text",
    [
        "Auto.__init__.__globals__['os'].system('{command}')",
        "Auto(n_initial=__import__('os').system('{command}'))",
        "Auto(n_initial=().__class__.__base__.__subclasses__()[0]())",
        "Auto(n_initial=(lambda: __import__('os').system('{command}'))())",
        "Auto(n_initial=[__import__('os').system('{command}') for _ in (1,)])",
        'Auto(n_initial=f\'{{__import__("os").system("{command}")}}\')',
        "Auto(n_initial=(x := __import__('os').system('{command}')))",
        "LP0(kernel=eval('Matern()'), norm_bound=1, noise=1, budget=1)",
        "getattr(Auto, '__init__')()",
        "registry.get('Auto')()",
        "(Auto if __import__('os').system('{command}') else Auto)()",
        "Auto(**__import__('os').environ)",
    ],
)
def test_the_text_of_a_method_is_only_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_method(text.format(command=f"touch {tmp_path / MARKER}"))
    assert not (tmp_path / MARKER).exists()


def test_every_name_that_a_text_may_call_is_a_class_of_ours() -> None:
    from quadrat.methods.registry import _known

    for name, known in _known().items():
        assert isinstance(known, type), name
        assert known.__module__.startswith("quadrat."), name


WATCHED = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.security.captured import run_command
folder = Path(sys.argv[2])
seen = []
FORBIDDEN = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen",
             "pickle.find_class", "ctypes.dlopen", "socket.connect", "exec"}
sys.addaudithook(lambda event, arguments: seen.append((event, repr(arguments))) if event in FORBIDDEN else None)
def said(kind):
    return [run_command([*command, "--storage", str(folder / f"{kind}.journal")]).status
            for command in (("export",), ("show", "--json"), ("ask",))]
first = said("good")  # which imports what is needed, and that is running code
seen.clear()
json.dump([first, said("evil"), seen], sys.stdout)
"""


def test_python_itself_sees_nothing_run(tmp_path: Path) -> None:
    """Python reports to a hook what it executes, starts, unpickles and connects to: for a strange study, nothing."""
    good, evil = tmp_path / "good.journal", tmp_path / "evil.journal"
    write_study(good)
    text = attacks(tmp_path)[0].replace("'", "").replace('"', "")
    changed = good.read_text().replace('"bowl"', f'"{text}"').replace('"a"', f'"{text}"')
    evil.write_text(changed.replace('\\"a\\"', f'\\"{text}\\"'))  # distributions are JSON in JSON
    assert evil.read_text().count(text) > 4, "the study, a choice of the space, and the same in trials"
    root = str(Path(__file__).resolve().parents[2])
    out = subprocess.run(
        [sys.executable, "-c", WATCHED, root, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert out.returncode == 0, out.stderr
    first, second, seen = json.loads(out.stdout)
    assert first == second == [0, 0, 0]
    assert seen == []


def test_the_dashboard_is_for_this_machine_alone() -> None:
    from quadrat.integrations import dashboard

    bound: list[str] = []

    def make_server(host: str, port: int, app: object, **options: object) -> None:
        bound.append(host)
        raise OSError("enough")

    with (
        mock.patch.object(dashboard, "make_server", make_server),
        mock.patch.object(dashboard, "_dashboard", mock.MagicMock()),
        pytest.raises(InvalidInput, match="enough"),
    ):
        dashboard.serve(mock.MagicMock(), mock.Mock(), port=0, ready=mock.Mock())
    assert bound == ["127.0.0.1"]
    refused = run_command(["dashboard", "--host", "0.0.0.0"])  # noqa: S104  # there is no such option
    assert refused.status == 2
    assert "--host" in refused.err


def test_what_is_shown_in_notebooks_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    shown = Space.from_dict({evil: {"type": "categorical", "choices": [evil]}})._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
