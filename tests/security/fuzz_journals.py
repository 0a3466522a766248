"""Journals that were damaged: what is whole is read, or one clear error says what is wrong; records stay in the file.

Two kinds of damage. Bytes, as disks and crashes leave them: the records before the damage are read, or the file is
refused and left as it is. And records that are well formed but say something else, as another program, or somebody who
may write to the storage, leaves them: whatever they say, a command on the study ends as it should.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from optuna.study import StudyDirection
from tests.security.captured import run_command
from tests.security.fuzz_space_files import check_refusal
from tests.security.fuzzing import Outcome
from tests.security.mutation import ODD_TEXTS, Random, mutated_bytes, mutated_tables, odd_value
from tests.security.study_example import quiet, write_study

from quadrat.errors import InvalidInput
from quadrat.studies import open_storage

__all__ = ["read_damaged_bytes", "read_strange_records"]

_COMMANDS = (("export",), ("show", "--json"), ("export", "--csv", "-"), ("best", "--json"), ("show",))
_CHANCES = (20, 1, 10, 1, 1)  # models take their time
_ATTRIBUTES = ("quadrat:space", "quadrat:method", "quadrat:seed", "quadrat:values", "quadrat:sem", "quadrat:failure")
_original: dict[Path, bytes] = {}


def read_damaged_bytes(rng: Random, folder: Path) -> Outcome:
    """Damage the bytes of a journal and open it."""
    whole = _whole(folder)
    damaged = _damaged(rng, whole)
    path = folder / "damaged.journal"
    path.write_bytes(damaged)
    same = _lines_alike(whole, damaged)
    try:
        storage = open_storage(str(path))
    except InvalidInput as error:
        check_refusal(str(error))
        left = path.read_bytes()
        assert left == damaged, "a file that is refused is left as it is"
        return "refused"
    found = sum(len(storage.get_all_trials(study._study_id)) for study in storage.get_all_studies())
    assert found >= _trials_in(same), "trials before the damage are read"
    if rng.random() < 0.3:
        with quiet():
            storage.create_new_study([StudyDirection.MINIMIZE], "another")
        assert path.read_bytes().startswith(b"".join(same)), "records before the damage stay"
    return "accepted"


def read_strange_records(rng: Random, folder: Path) -> Outcome:
    """Change what records say, and run a command on them."""
    records = [json.loads(line) for line in _whole(folder).splitlines()]
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(records))
        records[place] = _strange(rng, records[place])
    path = folder / "strange.journal"
    path.write_text("".join(json.dumps(_writable(record)) + "\n" for record in records))
    [command] = rng.choices(_COMMANDS, _CHANCES)
    said = run_command([*command, "--storage", str(path)])
    assert "Traceback" not in said.err, said.err
    if said.status == 0:
        return "accepted"
    assert said.status == 2, said
    assert said.err.count("\n") == 1, said.err
    return "refused"


def _whole(folder: Path) -> bytes:
    if folder not in _original:
        _original[folder] = write_study(folder / "whole.journal")
    return _original[folder]


def _damaged(rng: Random, whole: bytes) -> bytes:
    way = rng.random()
    if way < 0.3:  # a write that was cut off
        return whole[: rng.randrange(len(whole) + 1)]
    if way < 0.4:  # a power cut: zeros in the place of what was not written
        size = rng.randrange(len(whole) + 1)
        return whole[:size] + b"\0" * rng.randrange(1, 300)
    if way < 0.5:
        return whole + mutated_bytes(rng, whole.splitlines()[-1])
    if way < 0.55:
        return rng.randbytes(rng.randrange(2000))
    return mutated_bytes(rng, whole)


def _lines_alike(whole: bytes, damaged: bytes) -> list[bytes]:
    """Return the lines before the damage."""
    alike = []
    for before, after in zip(whole.splitlines(keepends=True), damaged.splitlines(keepends=True), strict=False):
        if before != after:
            break
        alike.append(before)
    return alike


def _trials_in(lines: list[bytes]) -> int:
    return sum(json.loads(line)["op_code"] == 4 for line in lines)


def _strange(rng: Random, record: dict[str, Any]) -> Any:
    way = rng.random()
    if way < 0.35:
        return mutated_tables(rng, record)
    attribute = next((name for name in ("user_attr", "system_attr") if isinstance(record.get(name), dict)), None)
    if attribute is not None and way < 0.9:
        name = rng.choice((*record[attribute], *_ATTRIBUTES))
        value = record[attribute].get(name)
        changed = mutated_tables(rng, value) if isinstance(value, dict) and rng.random() < 0.5 else odd_value(rng)
        return {**record, attribute: {name: changed}}
    key = rng.choice(list(record))
    return {**record, key: rng.choice((odd_value(rng), rng.choice(ODD_TEXTS), record.get(rng.choice(list(record)))))}


def _writable(value: Any) -> Any:
    """Return what JSON can hold: Python does not write numbers of thousands of digits."""
    if isinstance(value, dict):
        return {str(key): _writable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_writable(inner) for inner in value]
    return 10**300 if isinstance(value, int) and abs(value) > 1 << 10000 else value
