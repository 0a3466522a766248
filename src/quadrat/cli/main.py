"""The `quadrat` command."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import quadrat
from quadrat.cli.screen import Screen
from quadrat.errors import QuadratError

__all__ = ["main"]

_BAD_INPUT = 2
app = typer.Typer(
    name="quadrat",
    help="Noisy black-box optimisation whose bounds truly hold.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, or 2 with one line on standard error for bad input.

    Parameters
    ----------
    arguments
        What stands after the command's name; None takes it from the command line.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show "Matérn" still shows the rest
    try:
        status = typer.main.get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name="quadrat", standalone_mode=False
        )
        sys.stdout.flush()
    except QuadratError as error:
        return _refuse(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush at exit complains
        return 1
    except Exception as error:
        # typer's own usage errors. Their class lives in click for some versions of typer and in typer for others.
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        message = " ".join(str(say()).split())
        return _refuse(message) if message else 0
    return status if isinstance(status, int) else 0


def _refuse(message: str) -> int:
    sys.stderr.write(f"quadrat: {' '.join(message.split())}\n")
    return _BAD_INPUT


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


@app.command()
def methods(as_json: Json = False) -> None:
    """List the methods: what each is, its paper, what it assumes and whether it certifies."""
    from quadrat.cli.method_list import methods_json, methods_table  # loads every method; others need not wait for it

    if as_json:
        typer.echo(methods_json())
    else:
        Screen().show(methods_table())


@app.command()
def rates(
    dimension: Annotated[int, typer.Option("--dimension", "-d", help="Number of parameters, at least 1.")],
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            "-k",
            help="matern, squared-exponential, rational-quadratic, gamma-exponential or piecewise-polynomial.",
        ),
    ] = "matern",
    nu: Annotated[float | None, typer.Option("--nu", help="Smoothness of matern; 2.5 if not given.")] = None,
    a: Annotated[
        float | None, typer.Option("--a", help="Shape of rational-quadratic and gamma-exponential; 1 if not given.")
    ] = None,
    q: Annotated[int | None, typer.Option("--q", help="Smoothness of piecewise-polynomial; 1 if not given.")] = None,
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


@app.command()
def best(study: Study = None, storage: Storage = None, as_json: Json = False) -> None:
    """Show what to use according to a study, with an interval, beside the luckiest trial."""
    from quadrat.cli.study_commands import best_json, best_table, opened

    found = opened(study, storage)
    if as_json:
        typer.echo(best_json(found))
        return
    table, why = best_table(found)
    screen = Screen()
    screen.show(table)
    screen.say(why)


@app.command()
def export(
    study: Study = None,
    storage: Storage = None,
    csv: Annotated[str | None, typer.Option("--csv", help="File to write CSV to, - for standard output.")] = None,
) -> None:
    """Write the trials of a study, one row each: number, state, value, failure, parameters; JSON without --csv."""
    from quadrat.cli.study_commands import export as exported
    from quadrat.cli.study_commands import opened

    text = exported(opened(study, storage), csv)
    if text is not None:
        typer.echo(text)
