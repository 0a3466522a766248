"""The `quadrat` command."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

import quadrat
from quadrat._core.arrays import read_decimal
from quadrat.cli.screen import Screen, refusal, visible
from quadrat.errors import InvalidInput, QuadratError, shortened

__all__ = ["main"]

_BAD_INPUT, _READER_LEFT = 2, 1
_DIGITS = re.compile(r"[+-]?[0-9]{1,1000}")  # of more than 4300, Python makes no number
_ONE_OBJECTIVE = {"--direction": "direction", "--value": "column"}  # options of which each objective would have its own
app = typer.Typer(
    name="quadrat",
    help="Noisy black-box optimisation whose bounds truly hold.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Once(TyperCommand):
    """A command that refuses an option with a value given twice: by itself the last one would count, without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for param in self.params:
            count = sum(other is param for other in given)
            if count > 1 and isinstance(param, TyperOption) and not (param.is_flag or param.multiple):
                _refuse_many(param.opts[0], count)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what a storage, a file or the memory throws is refused in one line."""
        try:
            return super().invoke(ctx)
        except QuadratError:
            raise
        except (BrokenPipeError, SystemExit):  # the reader, such as `head`, has seen enough; rich raises the latter
            raise typer.Exit(_READER_LEFT) from None
        except Exception as error:
            from quadrat.cli.failure_line import failure_line

            line = failure_line(error, ctx.params.get("storage"))
            if line is None:
                raise
            raise InvalidInput(line) from error


def _refuse_many(option: str, count: int) -> None:
    which = _ONE_OBJECTIVE.get(option)
    hint = "keep one of them" if which is None else f"several objectives are not supported yet, so name one {which}"
    raise InvalidInput(f"{option}: expected it once, got it {count} times; {hint}")


def _decimal(text: object) -> float:
    """Return a number of the command line; typer's own reading takes 1_5 for 15."""
    found = read_decimal(str(text))
    if found is None:
        raise typer.BadParameter(f"expected a number, such as 0.5 or 1e-3, got {text!r}")
    return found


def _whole(text: object) -> int:
    if not _DIGITS.fullmatch(str(text).strip()):
        raise typer.BadParameter(f"expected a whole number, such as 12, got {text!r}")
    return int(str(text))


_DECIMAL: Any = {"parser": _decimal, "metavar": "<float>"}
_WHOLE: Any = {"parser": _whole, "metavar": "<int>"}


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    That is 0, or 2 with one line on standard error for bad input; 1 where whoever reads the output has left; 3 where
    results contradict the assumptions that are to certify them; 128 and its number after a signal.

    Parameters
    ----------
    arguments
        What stands after the command's name; None takes it from the command line.

    Returns
    -------
    int
        The exit status.

    Examples
    --------
    >>> main(["--version"])
    quadrat ...
    0
    """
    _open_standard_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show "Matérn" still shows the rest
    try:
        return _status(arguments)
    finally:
        try:
            sys.stdout.flush()
        except (OSError, ValueError):  # it was said, and the flush at exit would complain again
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _status(arguments: Sequence[str] | None) -> int:
    """Run the command; return its exit status."""
    try:
        status = typer.main.get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name="quadrat", standalone_mode=False
        )
        sys.stdout.flush()
    except QuadratError as error:
        return _refuse(refusal(error))
    except BrokenPipeError:
        return _READER_LEFT
    except OSError as error:  # of the flush; the command has refused its own
        from quadrat.cli.failure_line import failure_line

        return _refuse(failure_line(error, None) or str(error))
    except Exception as error:
        # typer's own usage errors. Their class lives in click for some versions of typer and in typer for others.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return 128 + signal.SIGINT
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        message = " ".join(str(say()).split())
        return _refuse(message) if message else 0
    return status if isinstance(status, int) else 0


def _refuse(message: str) -> int:
    with suppress(OSError, ValueError):  # where errors cannot be written either, the status says it
        sys.stderr.write(f"quadrat: {visible(shortened(' '.join(message.split())))}\n")
    return _BAD_INPUT


def _open_standard_streams() -> None:
    """Open what was closed when this process began: the next file would be standard output."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123  # as long as the process


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quadrat {quadrat.__version__}")
        raise typer.Exit


@app.callback()
def _quadrat(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # its callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Noisy black-box optimisation whose bounds truly hold."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(cls=_Once)
def methods(as_json: Json = False) -> None:
    """List the methods: what each is, its paper, what it assumes and whether it certifies."""
    from quadrat.cli.method_list import methods_json, methods_table  # loads every method; others need not wait for it

    if as_json:
        typer.echo(methods_json())
    else:
        Screen().show(methods_table())


@app.command(cls=_Once)
def rates(
    dimension: Annotated[int, typer.Option("--dimension", "-d", help="Number of parameters, at least 1.", **_WHOLE)],
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            "-k",
            help="matern, squared-exponential, rational-quadratic, gamma-exponential or piecewise-polynomial.",
        ),
    ] = "matern",
    nu: Annotated[
        float | None, typer.Option("--nu", help="Smoothness of matern; 2.5 if not given.", **_DECIMAL)
    ] = None,
    a: Annotated[
        float | None,
        typer.Option("--a", help="Shape of rational-quadratic and gamma-exponential; 1 if not given.", **_DECIMAL),
    ] = None,
    q: Annotated[
        int | None, typer.Option("--q", help="Smoothness of piecewise-polynomial; 1 if not given.", **_WHOLE)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what columns and methods mean.")] = False,
    as_json: Json = False,
) -> None:
    """Show how fast the regret of each method shrinks with the number of evaluations."""
    from quadrat.cli.rate_list import kernel_of, rates_json, rates_text
    from quadrat.theory import rates as survey

    table = survey(kernel_of(kernel, dimension, nu=nu, a=a, q=q), dimension)
    if as_json:
        typer.echo(rates_json(table))
    else:
        rates_text(table, Screen(), explain=explain)


Study = Annotated[str | None, typer.Option("--study", help="Name of the study; not needed where there is one.")]
Storage = Annotated[
    str | None,
    typer.Option(
        "--storage", help="Journal file or database URL; quadrat.journal in the working directory if not given."
    ),
]


ReadIn = Annotated[
    str | None,
    typer.Option(
        "--space",
        help="TOML or JSON file with the parameters, where the study has no space of its own and its trials do not all"
        " have the same ones; nothing is written.",
    ),
]


@app.command(cls=_Once)
def best(study: Study = None, storage: Storage = None, space: ReadIn = None, as_json: Json = False) -> None:
    """Show what to use according to a study, with an interval, beside the luckiest trial."""
    from quadrat.cli.study_commands import best_json, best_table, opened
    from quadrat.cli.study_summary import best_seen_text

    found = opened(study, storage, space)
    if as_json:
        typer.echo(best_json(found))
        return
    screen = Screen()
    try:
        table, why = best_table(found)
    except QuadratError:
        if seen := best_seen_text(found):  # it is known without a model
            screen.say(f"Best seen: {seen}")
        raise
    screen.show(table)
    screen.say(why)


@app.command(cls=_Once)
def export(
    study: Study = None,
    storage: Storage = None,
    csv: Annotated[str | None, typer.Option("--csv", help="File to write CSV to, - for standard output.")] = None,
) -> None:
    """Write the trials of a study, one row each: number, state, value, failure, parameters; JSON without --csv.

    A parameter called number, state, value or failure is written as params.NAME. Numbers that are not finite are null
    in JSON.
    """
    from quadrat.cli.study_commands import export as exported
    from quadrat.cli.study_commands import opened

    text = exported(opened(study, storage), csv)
    if text is not None:
        typer.echo(text)


WhichWay = Annotated[
    str | None, typer.Option("--direction", help="maximize or minimize; a new study minimizes if not given.")
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="Name of a method, see quadrat methods, or one with its options: 'LPGPUCB(kernel=Matern(2.5, 0.3),"
        " norm_bound=2, noise=0.1, budget=100)'; kept with the study.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Of a new study, kept with it; 0 if not given.", **_WHOLE)]


@app.command(cls=_Once)
def tune(
    objective: Annotated[str, typer.Argument(help="FILE.py:function, or package.module:function.")],
    space: Annotated[
        str | None,
        typer.Option(
            "--space",
            help="TOML or JSON file with the parameters; the function is called with a dict of them. Without one it is"
            " called with a trial of Optuna's, and defines them as it runs.",
        ),
    ] = None,
    n_trials: Annotated[
        int | None,
        typer.Option(
            "--n-trials", "-n", help="Trials in the end, earlier ones included; 50 without --timeout.", **_WHOLE
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Seconds after which no trial begins.", **_DECIMAL)
    ] = None,
    direction: WhichWay = None,
    method: MethodName = None,
    noise: Annotated[
        float | None,
        typer.Option(
            "--noise",
            help="Standard deviation of the noise in one result, for the default method: 0 where a setting always gives"
            " the same; learned if not given. Kept with the study.",
            **_DECIMAL,
        ),
    ] = None,
    seed: Seed = None,
    study: Study = None,
    storage: Storage = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", "-w", help="Trials at once, each in a process; without it and --executor, here.", **_WHOLE
        ),
    ] = None,
    executor: Annotated[str | None, typer.Option("--executor", help="What evaluates: process, dask or ray.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler or a Ray cluster that runs already.")
    ] = None,
    trial_timeout: Annotated[
        float | None,
        typer.Option(
            "--trial-timeout",
            help="Seconds that a trial may take; then it is ended and tried again, twice at most.",
            **_DECIMAL,
        ),
    ] = None,
    stop_at_gain: Annotated[
        float | None,
        typer.Option(
            "--stop-at-gain",
            help="End when at most this much is left to gain with 90 %, as sure as the model is.",
            **_DECIMAL,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tune a function: ask, evaluate, tell, until there are enough trials.

    A study is kept in its storage: the same command goes on with it, also after a crash. Ctrl-C lets running trials
    finish, a second one stops at once.

    Exit status: 0 at the end, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from quadrat.cli.tune_command import TuneOptions
    from quadrat.cli.tune_command import tune as run

    status = run(
        TuneOptions(
            objective=objective,
            space=space,
            n_trials=n_trials,
            timeout=timeout,
            direction=direction,
            method=method,
            seed=seed,
            noise=noise,
            study=study,
            storage=storage,
            workers=workers,
            executor=executor,
            scheduler=scheduler,
            trial_timeout=trial_timeout,
            stop_at_gain=stop_at_gain,
            as_json=as_json,
        )
    )
    raise typer.Exit(status)


SpaceFile = Annotated[
    str | None, typer.Option("--space", help="TOML or JSON file with the parameters; kept with the study.")
]


@app.command(cls=_Once)
def ask(
    space: SpaceFile = None,
    study: Study = None,
    storage: Storage = None,
    direction: WhichWay = None,
    method: MethodName = None,
    seed: Seed = None,
    n: Annotated[int, typer.Option("--n", "-n", help="How many trials, to be evaluated at once.", **_WHOLE)] = 1,
    as_json: Json = False,
) -> None:
    """Ask what to evaluate next; the first time with --space, which begins a study."""
    from quadrat.cli import bench_commands as bench
    from quadrat.cli.study_commands import Where

    bench.ask(Where(study, storage), bench.Beginning(space, direction, method, seed), n, as_json=as_json)


# Or else a value such as -1.5 would be an option.
@app.command(cls=_Once, context_settings={"ignore_unknown_options": True})
def tell(
    number: Annotated[
        int | None,
        typer.Argument(metavar="NUMBER", help="Of a trial that was asked.", show_default=False, parser=_whole),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="VALUE", help="What was measured; several are replicates.", show_default=False),
    ] = None,
    sem: Annotated[
        str | None, typer.Option("--sem", help="Standard error of the value; with --csv the column that has it.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="There is no value: the experiment failed.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Why it failed.")] = None,
    csv: Annotated[str | None, typer.Option("--csv", help="File with results, a row each.")] = None,
    value: Annotated[
        str | None, typer.Option("--value", help="Column of the file with results; value if not given.")
    ] = None,
    space: SpaceFile = None,
    study: Study = None,
    storage: Storage = None,
    direction: WhichWay = None,
    method: MethodName = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Report what was measured: quadrat tell 3 0.82, or many results from before with --csv old.csv."""
    from quadrat.cli import bench_commands as bench
    from quadrat.cli.study_commands import Where

    where, beginning = Where(study, storage), bench.Beginning(space, direction, method, seed)
    if csv is not None:
        bench.refuse(
            "only without --csv, got both; leave one of the two out",
            NUMBER=number,
            failed=failed or None,
            reason=reason,
        )
        bench.tell_file(where, beginning, csv, value=value, sem=sem, as_json=as_json)
    else:
        bench.refuse("only with --csv, got none; leave it out", value=value, **vars(beginning))
        bench.tell(where, number, values or [], sem=sem, failed=failed, reason=reason, as_json=as_json)


@app.command(cls=_Once)
def show(
    study: Study = None,
    storage: Storage = None,
    last: Annotated[
        int | None,
        typer.Option(
            "--last",
            help="How many trials; those that run are always shown. 20 if not given, all with --json.",
            **_WHOLE,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="Whose model it is, a name or with options: 'LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1,"
            " budget=100)'. Shows its certificate and cells, whoever chose the trials.",
        ),
    ] = None,
    space: ReadIn = None,
    as_json: Json = False,
) -> None:
    """Show a study: what is recommended and how sure that is, progress, cells, trials; or the studies of a storage."""
    from quadrat.cli.show_command import show as shown
    from quadrat.cli.study_commands import Where

    shown(Where(study, storage, space), last, method, as_json=as_json)


NamedStudy = Annotated[
    str | None, typer.Argument(metavar="STUDY", help="Name of the study, as --study.", show_default=False)
]


@app.command(cls=_Once)
def report(
    name: NamedStudy = None,
    study: Study = None,
    storage: Storage = None,
    space: ReadIn = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write.")] = "report.html",
) -> None:
    """Write what a study says as one HTML page that needs no network: what to use, figures, trials, settings."""
    from quadrat.cli.study_commands import Where, named
    from quadrat.cli.study_commands import report as written

    written(Where(named(name, study), storage, space), output)


@app.command(cls=_Once)
def certify(
    name: NamedStudy = None,
    study: Study = None,
    storage: Storage = None,
    space: ReadIn = None,
    kernel: Annotated[
        str, typer.Option("--kernel", help="A kernel: Matern(2.5), SquaredExponential(), or with its length-scales.")
    ] = "Matern(2.5)",
    lengthscale: Annotated[
        list[str] | None,
        typer.Option(
            "--lengthscale",
            metavar="NAME=NUMBER",
            help="In the units of the parameter, once for each; a factor for a log parameter.",
        ),
    ] = None,
    unit_cube: Annotated[
        bool, typer.Option("--unit-cube", help="The kernel's own length-scales are shares of the ranges.")
    ] = False,
    norm_bound: Annotated[
        float | None, typer.Option("--norm-bound", help="B, in the units of the values.", **_DECIMAL)
    ] = None,
    offset: Annotated[
        float | None, typer.Option("--offset", help="The value around which the objective lies.", **_DECIMAL)
    ] = None,
    noise: Annotated[
        float | None, typer.Option("--noise", help="Sub-Gaussian constant of one value.", **_DECIMAL)
    ] = None,
    values_within: Annotated[
        str | None,
        typer.Option("--values-within", metavar="LOW,HIGH", help="Instead of --noise: every value lies between them."),
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", help="What is certified may fail with this probability.", **_DECIMAL)
    ] = 0.05,
    params: Annotated[
        list[str] | None,
        typer.Option("--params", metavar="JSON", help="A further setting to certify; may be repeated."),
    ] = None,
    stated_before_data: Annotated[
        bool, typer.Option("--stated-before-data", help="Say that the assumptions were chosen without the results.")
    ] = False,
    every_value_counts: Annotated[
        bool,
        typer.Option(
            "--every-value-counts",
            help="Say that every value is there as it was measured, with noise of its own: none left out, corrected,"
            " rounded or averaged because of what it was.",
        ),
    ] = False,
    failures_ignore_noise: Annotated[
        bool,
        typer.Option(
            "--failures-ignore-noise",
            help="Say that it did not depend on the noise which trials failed or have not ended.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Certify a study of any sampler: what is recommended, with bounds that hold under stated assumptions.

    The exit status is 3 where the results contradict the assumptions, and nothing is certified.
    """
    from quadrat.cli.certify_command import CertifyOptions
    from quadrat.cli.certify_command import certify as certified
    from quadrat.cli.study_commands import Where, named

    options = CertifyOptions(
        kernel=kernel,
        lengthscale=lengthscale or (),
        unit_cube=unit_cube,
        norm_bound=norm_bound,
        offset=offset,
        noise=noise,
        values_within=values_within,
        delta=delta,
        params=params or (),
        stated_before_data=stated_before_data,
        every_value_counts=every_value_counts,
        failures_ignore_noise=failures_ignore_noise,
        as_json=as_json,
    )
    raise typer.Exit(certified(Where(named(name, study), storage, space), options))


@app.command(cls=_Once)
def dashboard(
    name: NamedStudy = None,
    study: Study = None,
    storage: Storage = None,
    space: ReadIn = None,
    port: Annotated[int, typer.Option("--port", help="Of this machine; 0 takes any that is free.", **_WHOLE)] = 8080,
) -> None:
    """Serve Optuna's dashboard of a study, with figures of ours, to this machine, until Ctrl-C."""
    from quadrat.cli.dashboard_command import dashboard as served
    from quadrat.cli.study_commands import Where, named

    served(Where(named(name, study), storage, space), port)
