"""The methods, as data: where their adapters are, and what they need installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from regret.adapter import Adapter

__all__ = ["OURS", "ROSTER", "Entry", "adapter_class"]

OURS = "quadrat"
_FAST, _SLOW = tuple(range(0, 20, 2)), tuple(range(0, 10, 2))  # even: odd seeds are for tuning our own method


@dataclass(frozen=True)
class Entry:
    """A method.

    Attributes
    ----------
    title
        In tables.
    adapter
        "module:class" of its adapter.
    distributions
        Whose versions go into rows.
    module
        What must be importable.
    environment
        Folder of the virtual environment that has it (`make peers`), in the root of the repository.
    seeds
        That are run unless others are named.
    """

    title: str
    adapter: str
    distributions: tuple[str, ...] = ()
    module: str = "quadrat"
    environment: str = ".venv-peers"
    seeds: tuple[int, ...] = _FAST

    def adapter_class(self) -> type[Adapter]:
        """Import and return its adapter."""
        module, _, name = self.adapter.partition(":")
        found: type[Adapter] = getattr(import_module(module), name)
        return found


ROSTER = {
    OURS: Entry("Quadrat", "regret.adapter:Quadrat"),
    "optuna_gp": Entry("Optuna GP", "regret.peers.optuna_peer:GP", ("optuna", "torch"), "optuna"),
    "optuna_tpe": Entry("Optuna TPE", "regret.peers.optuna_peer:TPE", ("optuna",), "optuna"),
    "botorch": Entry(
        "BoTorch qLogNEI", "regret.peers.botorch_peer:BoTorch", ("botorch", "gpytorch", "torch"), "botorch", seeds=_SLOW
    ),
    "ax": Entry("Ax", "regret.peers.ax_peer:Ax", ("ax-platform", "botorch", "torch"), "ax", seeds=_SLOW),
    "hebo": Entry("HEBO", "regret.peers.hebo_peer:Hebo", ("HEBO", "gpytorch", "torch"), "hebo", ".venv-hebo", _SLOW),
    "turbo": Entry(
        "TuRBO-1", "regret.peers.botorch_peer:TuRBO", ("botorch", "gpytorch", "torch"), "botorch", seeds=_SLOW
    ),
    "cma": Entry("CMA-ES", "regret.peers.cma_peer:CMAES", ("cma",), "cma"),
    "egobox": Entry("egobox", "regret.peers.egobox_peer:Egobox", ("egobox",), "egobox"),
    "random": Entry("random", "regret.adapter:Random"),
}


def adapter_class(method: str) -> type[Adapter]:
    """Import and return the adapter of a method."""
    return ROSTER[method].adapter_class()
