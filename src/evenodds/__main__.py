"""`python -m evenodds` is the command line."""

from evenodds.fronts.cli import main

if __name__ == "__main__":
    main()
