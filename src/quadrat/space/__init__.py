"""Search spaces: named parameters, and the map between their values and the unit cube.

Examples
--------
>>> from quadrat.space import Categorical, Float, Int, Space
>>> space = Space(lr=Float(1e-6, 1.0, log=True), batch_size=Int(10, 500), kernel=Categorical([1, 5, 9]))
>>> space.from_unit([0.5, 0.0, 1.0])
{'lr': 0.001, 'batch_size': 10, 'kernel': 9}
"""

from __future__ import annotations

from quadrat.space.fidelity import Fidelity
from quadrat.space.numeric import Float, Int
from quadrat.space.parameter import Categorical, Fixed, Parameter
from quadrat.space.space import Context, Space

__all__ = ["Categorical", "Context", "Fidelity", "Fixed", "Float", "Int", "Parameter", "Space"]
