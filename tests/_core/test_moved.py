"""Old names still resolve, with a warning that says where they went; what left the package says where it is."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import quadrat as qd
from quadrat._core.moved import LEFT, MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_module_resolves_to_the_new_one(old: str) -> None:
    for name in [name for name in sys.modules if name in MOVED]:
        del sys.modules[name]
    with warnings.catch_warnings(record=True) as caught:  # that of an old package, too, where it is in one
        warnings.simplefilter("always")
        found = import_module(old)
    assert f"{old} is now {MOVED[old]}" in [str(one.message) for one in caught]
    home = import_module(MOVED[old])
    for name in home.__all__ if hasattr(home, "__all__") else ():
        assert getattr(found, name) is getattr(home, name)


def test_no_name_is_both_old_and_new() -> None:
    assert not MOVED.keys() & set(MOVED.values())


@pytest.mark.parametrize("name", [name for names in qd._FORMER.values() for name in names.split()])
def test_an_old_public_name_resolves(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^quadrat\.{name} is now quadrat\.\w+\.{name}$"):
        found = getattr(qd, name)
    [home] = [home for home, names in qd._FORMER.items() if name in names.split()]
    assert found is getattr(import_module(f"quadrat.{home}"), name)
    assert name not in qd.__all__


def test_the_warning_is_about_the_line_that_uses_the_name(tmp_path: Path) -> None:
    script = tmp_path / "old.py"
    script.write_text("import quadrat as qd\nqd.GPUCB\nimport quadrat.tune\nfrom quadrat.tune.plan import Plan\n")
    run = subprocess.run([sys.executable, "-W", "always", script], capture_output=True, text=True, check=True)
    lines = [line.split(": ")[0].rsplit(":", 1)[1] for line in run.stderr.splitlines() if "DeprecationWarning" in line]
    assert lines == ["2", "3", "4"]


@pytest.mark.parametrize("old", LEFT)
def test_what_left_the_package_says_where_it_is(old: str) -> None:
    """Whichever way it is used: as an attribute, by name from its package, or as a module."""
    package, _, name = old.rpartition(".")
    says = LEFT[old]
    if "it is in " in says:
        folder = says.split("it is in ")[1].split(" ")[0]
        assert (Path(__file__).parents[2] / folder).is_dir()
    with pytest.raises(AttributeError) as of_attribute:
        getattr(import_module(package), name)
    with pytest.raises(ImportError) as of_module:
        import_module(old)
    with pytest.raises(ImportError) as of_name:
        exec(f"from {package} import {name}")
    assert str(of_attribute.value) == str(of_module.value) == str(of_name.value) == says
    assert not hasattr(import_module(package), name)


def test_what_never_existed_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("quadrat.methods.nonsense")


OF_0_1 = (Path(__file__).parent / "modules_of_0_1.txt").read_text().split()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("module", OF_0_1)
def test_every_module_of_0_1_is_there_or_says_where_it_is(module: str) -> None:
    if module in LEFT:
        with pytest.raises(ModuleNotFoundError, match="left the package: "):
            import_module(module)
    else:
        import_module(module)
