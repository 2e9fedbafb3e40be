"""`python -m warpsmith`."""

from warpsmith.app.cli.start import main

if __name__ == "__main__":
    main()
