"""The help of a command: long lists of options in groups, the same in all commands."""

from collections.abc import Mapping

import click

__all__ = ["GROUPS", "GroupedCommand"]

GROUPED_FROM = 12
"""Options from which on a list is shown in groups."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Model": ("--bin", "--other-bin", "--extension", "--stdin-filename", "--skip-others"),
    "Migration": ("--to", "--for", "--pass", "--int8"),
    "Rules": ("--select", "--extend-select", "--ignore", "--fail-on", "--baseline", "--write-baseline"),
    "Files": ("--exclude", "--extend-exclude", "--force-exclude", "--config", "--isolated", "--jobs"),
    "Comparison": (
        "--verify",
        "--against",
        "--golden",
        "--mode",
        "--layers",
        "--type",
        "--outputs-only",
        "--tolerance",
        "--samples",
    ),
    "Runtime": ("--engine", "--runtime", "--runtime-python", "--install", "--device", "--precision", "--f64"),
    "Inputs": ("--input", "--set", "--seed", "--steps", "--state", "--layout", "--mean", "--scale", "--color"),
    "Output": (
        "--output",
        "--output-file",
        "--format",
        "--report",
        "--save",
        "--dump",
        "--bisect",
        "--dry-run",
        "--all",
        "--quiet",
        "--statistics",
        "--no-clobber",
        "--json",
        "--debug",
        "--help",
    ),
}
"""Heading -> its options, in the order in which they are shown."""

PLACES = {option: (heading, place) for heading, options in GROUPS.items() for place, option in enumerate(options)}


class GroupedCommand(click.Command):
    """A command whose help shows many options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        if len(options) < GROUPED_FROM:
            super().format_options(ctx, formatter)
            return
        for heading in GROUPS:
            placed = {PLACES[option.opts[-1]]: option.get_help_record(ctx) for option in options}
            records = [record for (group, _), record in sorted(placed.items()) if group == heading and record]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
