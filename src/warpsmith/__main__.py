"""`python -m warpsmith`."""

from warpsmith.app.cli.main import main

if __name__ == "__main__":
    main()
