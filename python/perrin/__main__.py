"""python -m perrin, and the script `perrin` of the wheel: the program."""
import sys

from perrin._perrin import program


def main():
    sys.exit(program(["perrin", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
