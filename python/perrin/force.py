"""What acts on the particles of a job: a class for each type, with its settings as arguments.

Made from the schema of jobs (perrin._schema); a plug-in's types are here, too."""
from perrin._schema import members

__getattr__, __dir__ = members("force")
