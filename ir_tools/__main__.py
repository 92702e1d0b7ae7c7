"""The `ir-tools` command, also `python -m ir_tools`."""

import signal

__all__ = ["main"]


def main() -> None:
    """Load the command and run it; Ctrl-C while it loads ends the process without a traceback."""
    loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if loading:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ir_tools.cli import main as run

    if loading:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
