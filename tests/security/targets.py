"""What is fuzzed, by name, with the share of cases: more for what is quick."""

from __future__ import annotations

from tests.security.fuzz_commands import run_arguments
from tests.security.fuzz_journals import read_damaged_bytes, read_strange_records
from tests.security.fuzz_method_texts import read_method_text
from tests.security.fuzz_results_files import read_results_file
from tests.security.fuzz_space_files import read_space_file
from tests.security.fuzz_studies import read_hostile_study, read_hostile_study_by_all
from tests.security.fuzzing import Target

__all__ = ["TARGETS"]

TARGETS: dict[str, tuple[Target, float]] = {
    "space files (TOML, JSON)": (read_space_file, 0.45),
    "method texts": (read_method_text, 0.2),
    "result files (CSV)": (read_results_file, 0.2),
    "journals, damaged bytes": (read_damaged_bytes, 0.08),
    "journals, strange records": (read_strange_records, 0.02),
    "hostile studies": (read_hostile_study, 0.02),
    "hostile studies, all commands": (read_hostile_study_by_all, 0.01),
    "command lines": (run_arguments, 0.02),
}
