"""The laboratory's commands; the native binary ``photofinish`` starts this for all that is not its own."""

from photofinish.cli.app import run

if __name__ == "__main__":
    run()
