"""An instrument that reads handwritten digits, with three knobs and noise.

    python reader.py blur=0.55 threshold=7.5 contrast=4.47

The digits are real: the 1797 scans that come with scikit-learn, 8 by 8 pixels of 0 to 16. The knobs are simulated: how
much the optics blur (in pixels), the ink below which paper is seen, and how gradually ink is told from paper. A reading
shows the instrument 40 digits, drawn from the last 1497, and gives the share that it names rightly, after it learned
from the first 300. Which 40 they are is all the noise there is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from quadrat._core.arrays import Array
from quadrat.randomness import generator

LEARNED = 300  # digits to learn from
SHOWN = 40  # digits of a reading
SCANS, NAMES = load_digits(return_X_y=True)


def seen(settings: Mapping[str, float]) -> Array:
    """Return all digits as the instrument sees them, shape (1797, 64), values in [-1, 1]."""
    width = settings["blur"]
    blurred = gaussian_filter(SCANS.reshape(-1, 8, 8), (0, width, width))
    return np.asarray(np.tanh((blurred - settings["threshold"]) / settings["contrast"])).reshape(-1, 64)


def named_rightly(settings: Mapping[str, float]) -> Array:
    """Return for each of the last 1497 digits whether the instrument names it rightly, as 0 and 1."""
    image = seen(settings)
    reader = KNeighborsClassifier(1).fit(image[:LEARNED], NAMES[:LEARNED])
    return np.asarray(reader.predict(image[LEARNED:]) == NAMES[LEARNED:], dtype=float)


def readings(settings: Mapping[str, float], n: int = 3, seed: int = 0) -> list[float]:
    """Take n readings; other settings or another seed show other digits."""
    right = named_rightly(settings)
    drawn = generator(seed, *(int(1e6 * settings[knob]) for knob in sorted(settings)))
    return [round(float(drawn.choice(right, SHOWN, replace=False).mean()), 3) for _ in range(n)]


def truth(settings: Mapping[str, float]) -> float:
    """Return the share that is named rightly of all digits: what no reading of 40 shows."""
    return float(named_rightly(settings).mean())


if __name__ == "__main__":
    knobs = dict(word.split("=") for word in sys.argv[1:])
    print(*readings({name: float(value) for name, value in knobs.items()}))
