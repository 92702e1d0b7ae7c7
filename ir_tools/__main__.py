"""`python -m ir_tools`: the same as the `ir-tools` command."""

from ir_tools.cli import main

if __name__ == "__main__":
    main()
