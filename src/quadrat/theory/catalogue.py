"""The methods of the table: idea, source and cost of each.

Costs are for n evaluations in D dimensions, the evaluations of f left out. "Exact GP" is one Cholesky factor
extended point by point: O(N^2) for the N-th point, O(N^2) for the posterior at one candidate, O(n^2) memory.
"""

from __future__ import annotations

from quadrat.theory.rate import Algorithm, Bound

__all__ = ["CATALOGUE"]

_EXACT = (
    "Exact GP, O(n^2) a step, and the search for the largest bound over the whole cube at every step: with a grid"
    " fine enough for the proof, of about n^(2D) points, O(n^(2D+3)) in all."
)
_CELLS = (
    "Exact GP, O(n^2) for each cell whose bound is refreshed; never more than about (2n)^D cells, and with the right"
    " rho_0 about one new cell an evaluation. No search over the cube"
)

LOWER_BOUND = Algorithm(
    "lower-bound",
    "lower bound, any algorithm",
    "Scarlett, Bogunovic and Cevher 2017",
    "Some f in the ball is hard for every algorithm: no regret can decay faster.",
    "None: a limit, not a method.",
    Bound.LOWER,
)
GP_UCB = Algorithm(
    "gp-ucb",
    "GP-UCB",
    "Srinivas, Krause, Kakade and Seeger 2012",
    "Evaluate where the upper confidence bound of one Gaussian process is largest.",
    _EXACT,
)
IGP_UCB = Algorithm(
    "igp-ucb",
    "IGP-UCB",
    "Chowdhury and Gopalan 2017",
    "GP-UCB with a confidence band that is narrower by logarithms.",
    _EXACT,
)
GP_UCB_VAKILI = Algorithm(
    "gp-ucb-vakili",
    "GP-UCB, newer gain bound",
    "Vakili, Khezeli and Picheny 2021, with Chowdhury and Gopalan 2017",
    "The same algorithm; its regret sqrt(n) gamma_n is read with the tight rate of the information gain.",
    _EXACT,
)
ADAPTED_GP_UCB = Algorithm(
    "gp-ucb-adapted",
    "GP-UCB, growing regulariser",
    "Whitehouse, Ramdas and Wu 2023",
    "GP-UCB whose regulariser grows with the budget as the kernel's eigenvalues decay.",
    _EXACT,
)
PI_GP_UCB = Algorithm(
    "pi-gp-ucb",
    "pi-GP-UCB",
    "Janz, Burt and González 2020",
    "Split the cube where it is evaluated often and fit an independent GP in every piece.",
    "Exact GPs that see only the points of their own piece, so much less than O(n^2) a step once pieces have split;"
    " a search over every piece at every step.",
)
LP_TAYLOR = Algorithm(
    "lp-gp-ucb-k",
    "LP-GP-UCB, k = ceil(nu)-1",
    "the paper, proposition for Matérn kernels with k = ceil(nu) - 1",
    "Cells with a GP bound, an average and, when small, a local polynomial of degree k.",
    _CELLS + ". A polynomial refinement costs O(n_E C(D+k, k)^2) for the n_E points of its cell.",
)
LP_ZERO = Algorithm(
    "lp-gp-ucb-0",
    "LP-GP-UCB, k = 0",
    "the paper, corollary for k = 0 and the propositions that use it",
    "Cells with a GP bound and an average; a cell splits when its bound is as tight as its size allows.",
    _CELLS + ".",
)
LP_ZERO_VAKILI = Algorithm(
    "lp-gp-ucb-0-vakili",
    "LP-GP-UCB, k = 0, newer gain",
    "the paper, corollary for k = 0, with Vakili, Khezeli and Picheny 2021",
    "The same algorithm; the information-type half of the corollary is read with the tight rate of the gain.",
    _CELLS + ".",
)
LP_BEST = Algorithm(
    "lp-gp-ucb",
    "LP-GP-UCB, best k",
    "the paper, summary of improvements",
    "Choose k for the regret that matters: each column may need a different k, so a different run.",
    _CELLS + ".",
)
RIPS = Algorithm(
    "rips",
    "RIPS",
    "Camilleri, Jamieson and Katz-Samuels 2021",
    "In rounds: an experimental design over the points still in play, a robust estimate, then elimination.",
    "A convex design problem over a grid of the cube in each of O(log n) rounds: exponential in D.",
)
GP_THREDS = Algorithm(
    "gp-threds",
    "GP-ThreDS",
    "Salgia, Vakili and Zhao 2021",
    "Shrink the domain along a tree by thresholds on the value of the maximum.",
    "Exact GPs on small grids inside the nodes: O(n^4) in all, n^(2D-1) times less than GP-UCB on a grid.",
)
BPE = Algorithm(
    "bpe",
    "BPE",
    "Li and Scarlett 2022",
    "O(log log n) batches: inside a batch take the most uncertain point, after it eliminate.",
    "Exact GP restarted in each batch, and the most uncertain point of a grid of the cube at every step:"
    " exponential in D; evaluations of a batch can run in parallel.",
)

CATALOGUE: tuple[Algorithm, ...] = (
    LOWER_BOUND,
    GP_UCB,
    IGP_UCB,
    GP_UCB_VAKILI,
    ADAPTED_GP_UCB,
    PI_GP_UCB,
    LP_TAYLOR,
    LP_ZERO,
    LP_ZERO_VAKILI,
    LP_BEST,
    RIPS,
    GP_THREDS,
    BPE,
)
"""The methods that `rates` knows, in the order of its rows; the first is the bound on all algorithms."""
