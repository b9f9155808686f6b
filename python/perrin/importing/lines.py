"""Lines of a script, and what is said of those that are not translated."""
import os


class NotUnderstood(Exception):
    """A line that is not translated; the text says why. line: where it is another than the one
    that is read."""

    def __init__(self, reason, line=None):
        super().__init__(reason)
        self.line = line


class NoJob(NotUnderstood):
    """Without what this line says, no number of the script means anything: there is no job."""


def wrong_words(error):
    """What is said of a line on which words are missing, are no numbers, or have no meaning."""
    if isinstance(error, IndexError) or "unpack" in str(error):
        return "words are missing, or too many"
    return f"a word is wrong: {error}"


class Line:
    """A command: its file and number, its text without comment, its words."""

    def __init__(self, file, number, text):
        self.file, self.number, self.text = file, number, text
        self.words = []

    def __str__(self):
        return f"{os.path.basename(self.file)}:{self.number}"


class Result:
    """text: the job; not_understood: [(line, reason)]; changed: what means nearly the same;
    data: [path of a written start or table]. jobs, texts: of all parts, where forces change after
    a run; each begins with the last frame of the one before."""

    def __init__(self):
        self.jobs, self.texts, self.data = [], [], []
        self.not_understood, self.changed, self.no_effect = [], [], []

    @property
    def job(self):
        return self.jobs[0]

    @property
    def text(self):
        return self.texts[0]

    def once(self):
        """Each line once, though runs and loops repeat it."""
        for entries in (self.not_understood, self.changed):
            kept = {(str(line), line.text, reason): (line, reason) for line, reason in entries}
            entries[:] = kept.values()
