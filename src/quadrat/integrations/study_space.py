"""The space of a study, kept with it: whoever opens the study later knows what was searched, conditions included."""

from __future__ import annotations

from optuna.study import Study

from quadrat.errors import InvalidInput
from quadrat.space import Space

__all__ = ["keep_space", "kept_space"]

_ATTRIBUTE = "quadrat:space"


def keep_space(study: Study, space: Space) -> None:
    """Keep the space with the study; nothing is written where it is there already.

    Raises
    ------
    InvalidInput
        The study has another one.
    """
    before = kept_space(study)
    if before is None:
        study.set_user_attr(_ATTRIBUTE, space.to_dict())
    elif before.to_dict() != space.to_dict():
        raise InvalidInput(
            f"study: expected one of this space, got {study.study_name!r}, which has another: {before!r:.300}; name a"
            " new study, or use the space that it has"
        )


def kept_space(study: Study) -> Space | None:
    """Return the space that was kept with a study; None where there is none. Known constraints are not part of it."""
    kept = study.user_attrs.get(_ATTRIBUTE)
    return None if kept is None else Space.from_dict(kept, source=f"study {study.study_name!r}")
