"""Lets `python -m remit` do what the `remit` command does. The words themselves live in `remit.cli`."""

from remit.cli import main

if __name__ == "__main__":
    main(prog_name="remit")
