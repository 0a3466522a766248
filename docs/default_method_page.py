"""Write docs/default_method.md: how the default method works, with the constants of its code, and what its parts buy.

python docs/default_method_page.py            writes the page
python docs/default_method_page.py --check    exits with 1 when the page is not what the code and the rows say

Constants are read from quadrat.methods, the table from benchmarks/regret/results/ablation.jsonl.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import exp, inf
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from regret import ablation, suite
from regret.rows import Row, read_rows

from quadrat.methods import acquisition
from quadrat.methods.auto import acquisition as auto_score
from quadrat.methods.auto import long_runs as auto_cells
from quadrat.methods.auto import long_runs as crowd
from quadrat.methods.auto import method as auto
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto import surrogate as averaging
from quadrat.methods.auto import trust_region as turns

PAGE = ROOT / "docs" / "default_method.md"
TEXT = """# The default method

What `quadrat.methods.Auto` does, in the order of a run, and what each part of it buys. Constants on this page are read
from the code and the table from `benchmarks/regret/results`, by `docs/default_method_page.py`. Everything here is
*fitted*: hyper-parameters are learned, and what follows from them is an estimate, not a certificate.

## How a run goes

**Start.** The first point is the centre of the space, which people place where they expect something good. Then come
points of a scrambled Sobol sequence. After {n_initial} trials the model decides.

**Model.** A Gaussian process with a constant mean sees the values standardised to mean 0 and sd 1, and the integers
and choices of a space as the settings they are. Each axis has a length-scale; noise variance, amplitude and
length-scales are learned as their most likely values under priors. The logs of length-scales are normal around that of
{middle:.2g} of the cube's side: they share a shift of sd {common:g} and differ from each other by an sd of {own:g},
because few values do not say more. All are learned again when a trial is told; in long runs, less often than that.

**Smoothness by evidence.** At one fit in {compare_every} the model is fitted with each of {kernel_count} kernels,
{kernels}, and the one under which the data are most likely is kept [RW06, section 5.2].

**Low values.** How badly something bad did says little about where the best is, and a training that diverges would set
the scale for all others. Where the log evidence gains more than {compress_from:g} by it, values below the median are
compressed: distances to it become logarithms, in units of how far the upper half exceeds it [S04]. On a plain of equal
values with holes in it, the model then sees which way is up.

**Averaging.** One setting of the hyper-parameters, learned from a few values, is too sure of itself. So {drawn} others
are drawn around the most likely one, with an sd of {spread:g} in each log; length-scales share it, and have an sd of
{own_spread:g} each for themselves. Whatever is computed is averaged over all {settings} [S12].

**Expected improvement, in logs.** What is asked for is the point whose averaged expected improvement [J98] is largest:
under each setting, over the best posterior mean of the evaluated points. Its logarithm is maximised, which has slopes
where the improvement itself is 0 to all digits [A23]. Deviations count {doubt:g} times: a model that was learned
from the same values is too sure of itself, and would look too little elsewhere. Points that are being evaluated count
as observed at their means.

**Climbs.** The improvement is computed at {uniform} uniform candidates and at {near} around each of the {best} best
points. From the {climbs} highest that lie apart, quasi-Newton ascents [NW06] of {steps} steps climb side by side.
Integers and choices are tried at their neighbours.

**Second looks.** What is recommended is an evaluated point, so noise at the best ones matters. One more observation is
worth the rise of the best posterior mean that it is expected to bring, the knowledge gradient [F09]. If one of the
{promising} best evaluated points is worth more than {repeat_worth:g} times as much as the new point, and not next to
nothing, it is evaluated again.

**Failures.** Where trials failed, the improvement is weighted by the chance to succeed [G14]. The chance is learned by
least-squares classification [RW06, section 6.5]; a point needs a larger one after every failure, but half of the space
always stays open.

**Pruned trials.** A pruned trial has no value, whatever it reported, and is no failure. Its point counts as one that
runs, at the posterior mean; of many, the latest {most_running} do. And the improvement is weighted by the chance that a
trial runs to its end, learned like the chance to succeed, from the trials that did and did not.

**Constraints.** Every constraint that is told has a model of its own, and the improvement is weighted by the chance
that all of them hold [G14; GK14]. As long as no point is believed to meet them, that chance alone is maximised.

**Long runs.** After {begin} trials a cell begins to zoom into the best place known: an evolution strategy with a spread
for each axis [H16; RH08], whose candidates, {candidates} at a time, are judged by a draw of f from a model of the
observations around it [E19]. When it has come to its end, another begins elsewhere; half of the evaluations go to new
cells, half to the best one. It takes turns with the search all over the space, and the way of asking that finds the
better values gets {share} trials of {of}. Up to {largest} observations one model sees all of them; beyond, the space is
divided into cells of at most {capacity} observations, the one with the highest upper bound is searched, and every model
is one of the {rows} + {rows_per_axis} D observations nearest to a place: asking costs about the same after 1,000 and
after 100,000 trials. Nothing of this changes a run of {begin} trials or fewer.

**Recommendation.** Recommended is the evaluated point with the highest averaged mean, among those that are believed to
meet the constraints. Beyond {largest} observations the model is one of averages: around the best place, trials are put
into cells, from {widest:g} of the side of the space down to where their values differ by noise alone, and each cell is
one observation. As the highest of so many means is a lucky one, the point with the highest mean less one deviation is
taken. Its 90 % interval is the model's, {wider:g} times as wide. What could still be gained is estimated by drawing f
jointly at many points, and stated as a mean; and as an upper value, {wider_gain:g} times the sum of three: the
{upper:g} % quantile, averaged over all smoothnesses so that it does not rest on the one that was chosen; the width of
the interval; and the range of the {highest} highest values told, which is large where there is noise or
where the search still climbs.

## What each part buys

Each line is the full method with one thing changed; `benchmarks/regret/ablation.py` runs them. The problems are
{problems} functions of {fewest} to {most} dimensions whose optimum every seed moves to another place.

{ablation}

## What limits this

- The settings of the method were chosen on odd seeds of these functions, and the table is of odd seeds too: it may
  favour the full method. The [comparison with other tools](../benchmarks/regret/results/report.md) has even seeds.
- The factors {wider:g} and {wider_gain:g} were chosen there as well, for intervals that hold in 90 % of runs and upper
  values that hold in nearly as many; on other problems they may hold more or less often.
- An interval in the table is over seeds. It says nothing about other functions, other noise or longer runs.
- Failures and constraints play no part in the table: on these problems there are none.

## References

- [A23] Ament, Daulton, Eriksson, Balandat and Bakshy (2023). Unexpected improvements to expected improvement for
  Bayesian optimization. NeurIPS.
- [E19] Eriksson, Pearce, Gardner, Turner and Poloczek (2019). Scalable global optimization via local Bayesian
  optimization. NeurIPS.
- [F09] Frazier, Powell and Dayanik (2009). The knowledge-gradient policy for correlated normal beliefs. INFORMS J.
  Computing.
- [G14] Gelbart, Snoek and Adams (2014). Bayesian optimization with unknown constraints. UAI.
- [GK14] Gardner, Kusner, Xu, Weinberger and Cunningham (2014). Bayesian optimization with inequality constraints. ICML.
- [H16] Hansen (2016). The CMA evolution strategy: a tutorial. arXiv:1604.00772.
- [J98] Jones, Schonlau and Welch (1998). Efficient global optimization of expensive black-box functions. J. Global
  Optimization.
- [NW06] Nocedal and Wright (2006). Numerical Optimization, second edition. Springer.
- [RH08] Ros and Hansen (2008). A simple modification in CMA-ES achieving linear time and space complexity. PPSN.
- [RW06] Rasmussen and Williams (2006). Gaussian Processes for Machine Learning. MIT Press.
- [S04] Snelson, Rasmussen and Ghahramani (2004). Warped Gaussian processes. NeurIPS.
- [S12] Snoek, Larochelle and Adams (2012). Practical Bayesian optimization of machine learning algorithms. NeurIPS.
"""


def page(rows: Sequence[Row]) -> str:
    """The text that the code and the rows of the ablation give."""
    lengthscale = auto_model.PRIORS.lengthscale
    assert lengthscale is not None
    names = ["the squared exponential" if nu == inf else f"Matérn {2 * nu:g}/2" for nu in auto_model.SMOOTHNESSES]
    problems = suite.SUITES["shifted"]
    dimensions = [suite.task(problem, 1).space.dimension for problem in problems]
    return TEXT.format(
        n_initial=auto.Auto().n_initial,
        middle=exp(lengthscale.mean),
        common=auto_model.PRIORS.common_lengthscale,
        own=lengthscale.sd,
        compare_every=auto_model.COMPARE_EVERY,
        kernel_count=len(names),
        kernels=f"{', '.join(names[:-1])} and {names[-1]}",
        compress_from=auto_model.WARP_FROM,
        begin=auto_cells.BEGIN,
        candidates=auto_cells.CANDIDATES,
        share=turns.REST + 1,
        of=turns.REST + 2,
        largest=auto_model.LARGEST,
        capacity=auto_cells.CAPACITY,
        widest=averaging.WIDEST,
        rows=auto_cells.ROWS,
        rows_per_axis=auto_cells.ROWS_PER_AXIS,
        drawn=auto_model.SETTINGS - 1,
        settings=auto_model.SETTINGS,
        spread=auto_model.SPREAD,
        own_spread=auto_model.OWN_SPREAD,
        uniform=auto_score.UNIFORM,
        near=auto_score.NEAR * len(auto_score.SCALES),
        best=auto.BEST,
        climbs=auto_score.CLIMBS,
        steps=auto_score.STEPS - 1,  # the first of the calls is at the start
        most_running=crowd.MOST,
        promising=auto.PROMISING,
        repeat_worth=auto.REPEAT_WORTH,
        doubt=auto_score.DEVIATION_FACTOR,
        wider=auto.WIDER,
        wider_gain=auto.WIDER_GAIN,
        highest=auto.HIGHEST,
        upper=100 * acquisition.UPPER,
        problems=len(problems),
        fewest=min(dimensions),
        most=max(dimensions),
        ablation=ablation.report(rows),
    )


if __name__ == "__main__":
    text = page(read_rows(ablation.ROWS))
    if "--check" in sys.argv:
        sys.exit(int(PAGE.read_text() != text))
    PAGE.write_text(text)
