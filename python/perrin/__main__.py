"""python -m perrin, and the script `perrin` of the wheel: the program, and `perrin import`."""
import sys


def main():
    if sys.argv[1:2] == ["import"]:
        from perrin.import_command import main as convert
        sys.exit(convert(sys.argv[2:]))
    from perrin._perrin import program
    sys.exit(program(["perrin", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
