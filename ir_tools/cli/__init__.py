"""The `ir-tools` command: one file per subcommand, everything that they share in `app`, `options` and `screen`."""

from ir_tools.cli.app import COMMANDS, main

__all__ = ["COMMANDS", "main"]
