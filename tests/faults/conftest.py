"""A bench for studies that are tuned by processes of their own, and a server that starts those quickly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.bench import Bench
from tests.faults.reference import Reference
from tests.faults.starter import Starter


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    with Starter() as found:
        yield found


@pytest.fixture(scope="session")
def reference(starter: Starter, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return Reference(tmp_path_factory.mktemp("reference"), starter)


@pytest.fixture
def bench(starter: Starter, reference: Reference, tmp_path: Path) -> Bench:
    return Bench(tmp_path, starter, reference)
