"""The words of the command line. Each says what it does and calls one function; nothing is decided here."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from remit import __version__
from remit.core.faults import Fault

ROOT = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The workspace folder (default: found from here upwards).",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="remit")
@click.option("-v", "--verbose", count=True, help="Log more, to stderr.")
def main(verbose: int) -> None:
    """Remit keeps a coding agent inside its remit: patches bound to what was read, decided by you, in your editor."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(stream=sys.stderr, level=level, format="remit: %(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls").setLevel(max(level, logging.ERROR))


@main.command()
def lsp() -> None:
    """Serve an editor (LSP on stdio). Start it from the editor, for every file in the workspace."""
    from remit import wiring

    sys.exit(wiring.lsp())


@main.command()
@ROOT
def mcp(root: Path) -> None:
    """Serve a coding agent (MCP on stdio). Start it from the agent's configuration."""
    import asyncio

    from remit import wiring

    asyncio.run(wiring.mcp(root))


@main.command(hidden=True)
@ROOT
def session(root: Path) -> None:
    """Hold a workspace while no editor is open: proposals wait, nothing is applied."""
    import asyncio

    from remit import wiring

    try:
        asyncio.run(wiring.headless(root))
    except Fault as fault:
        raise click.ClickException(str(fault)) from fault


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Tell it as data.")
@click.option("--keep", is_flag=True, help="Leave the folder to look at, and say where it is.")
@click.option("--slow", is_flag=True, help="Pause after each step, to read along.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Also draw the main steps into this file.")
def demo(as_json: bool, keep: bool, slow: bool, svg: Path | None) -> None:
    """See what Remit promises tried with real parts, in a throw-away folder; fails when a promise is broken."""
    from remit.edges.demo.show import Wish, show

    try:
        sys.exit(show(Wish(as_json, keep, slow, svg)))
    except Fault as fault:
        raise click.ClickException(str(fault)) from fault
