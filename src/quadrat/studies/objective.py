"""The function to tune, by the name of its file: so that another process, or another machine, finds it too."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from quadrat.errors import InvalidInput

__all__ = ["ObjectiveReference"]

_EXPECTED = "FILE.py:function or package.module:function"


@dataclass(frozen=True)
class ObjectiveReference:
    """A function in a file or in an installed module; it is loaded where it is called.

    Attributes
    ----------
    module
        The absolute path of a file, or the dotted name of a module.
    function
        The name of the function in it; dots lead into classes and objects.

    Examples
    --------
    >>> ObjectiveReference.read("math:sqrt").load()(4.0)
    2.0
    """

    module: str
    function: str

    @classmethod
    def read(cls, text: str) -> ObjectiveReference:
        """Return what a text such as "train.py:objective" refers to.

        Raises
        ------
        InvalidInput
            Not of this form, or a file that is not there.
        """
        module, colon, function = text.rpartition(":")
        if not colon or not module or not function:
            raise InvalidInput(f"objective: expected {_EXPECTED}, got {text!r}")
        if module.endswith(".py"):
            path = Path(module).resolve()
            if not path.is_file():
                raise InvalidInput(f"objective: expected {_EXPECTED}, got {text!r}: there is no file {module}")
            module = str(path)
        return cls(module, function)

    def load(self) -> Callable[..., Any]:
        """Return the function.

        Raises
        ------
        InvalidInput
            A module that cannot be imported, or that has no such function.
        """
        try:
            found: Any = self._imported()
        except Exception as error:  # whatever a user's file raises when it is imported
            raise InvalidInput(
                f"objective: expected {self.module} to be importable, got {type(error).__name__}: {error}"
            ) from error
        for name in self.function.split("."):
            if not hasattr(found, name):
                names = sorted(name for name, value in vars(found).items() if callable(value) and name[0] != "_")
                has = f"it has {', '.join(names)}" if names else "it has no functions"
                raise InvalidInput(f"objective: expected a function {self.function} in {self.module}, got none; {has}")
            found = getattr(found, name)
        if not callable(found):
            raise InvalidInput(
                f"objective: expected {self.function} in {self.module} to be a function, got {found!r:.80}"
            )
        function: Callable[..., Any] = found
        return function

    def _imported(self) -> ModuleType:
        if not self.module.endswith(".py"):
            return importlib.import_module(self.module)
        path = Path(self.module)
        name = f"quadrat_objective_{path.stem}"
        known = sys.modules.get(name)
        if known is not None and known.__file__ == self.module:
            return known
        folder = str(path.parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)  # as Python does for a script: what stands beside it can be imported
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # before it runs: objects that it pickles name their module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module
