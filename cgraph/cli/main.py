"""The `cgraph` command. Commands are imported only when they are asked for, so that `--help` answers at once."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import click

# name: (module, one line of help). The help stands here so that listing the commands imports none of them.
COMMANDS = {
    "check": ("cgraph.cli.check", "Check programs: names, types, sizes, quantities, launches."),
    "fmt": ("cgraph.cli.fmt", "Format programs."),
    "show": ("cgraph.cli.show", "Print the phases of a graph with their costs; or a program at a stage."),
    "explain": ("cgraph.cli.explain", "Say what a line became: what runs, what it waits for, and why."),
    "run": ("cgraph.cli.run", "Run a program and say what it did."),
    "save": ("cgraph.cli.save", "Write a program as a bundle: one file that runs without it."),
    "inspect": ("cgraph.cli.inspect", "Say what a bundle holds."),
    "diff": ("cgraph.cli.diff", "Say what differs between two bundles."),
    "view": ("cgraph.cli.view", "Show a graph: as a page, a picture, text for other tools, or data."),
    "kernels": ("cgraph.cli.kernels", "Compile kernels and say what they take; no GPU is needed."),
    "sanitize": ("cgraph.cli.sanitize", "Execute kernels with every check on: bounds, races, effects."),
    "train": ("cgraph.cli.train", "Train a program's weights on a text."),
    "replay": ("cgraph.cli.replay", "Run a bundle; compare it with the run that was recorded."),
    "gradcheck": ("cgraph.cli.gradcheck", "Compare a backward program with differences of its forward program."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order in which one meets them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table above."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])


def _version() -> str:
    try:
        return version("cgraph-lang")
    except PackageNotFoundError:
        return "(not installed)"


EXAMPLES = """\b
Examples:
  cgraph check programs/layer_backward.cg
  cgraph run programs/layer_backward.cg --set cgSeq=256 --check
"""


@click.command(cls=LazyGroup, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), prog_name="cgraph")
def main() -> None:
    """Write GPU programs as typed command graphs: check them, run them, look at them."""


if __name__ == "__main__":
    main()
