"""What the system "parts" is made of: a class for each type, with its settings as arguments.

Made from the schema of jobs (perrin._schema)."""
from perrin._schema import members

__getattr__, __dir__ = members("part")
