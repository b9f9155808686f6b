"""A progress bar: tqdm's where it is installed, which knows notebooks, else one line of text."""
from __future__ import annotations

import sys
import time


def drawn(part, width=30):
    """A bar as text: "[####......]"."""
    filled = int(width * min(part, 1))
    return f"[{'#' * filled}{'.' * (width - filled)}]"


class Bar:
    """Steps that were done of `total`, with the time left; closed by close()."""

    def __init__(self, total, label="steps"):
        self.total, self.done, self.label = total, 0, label
        self.begin = self.shown = time.monotonic()
        try:
            from tqdm.auto import tqdm
            self.bar = tqdm(total=total, unit=f" {label}", unit_scale=True)
        except ImportError:
            self.bar = None

    def to(self, done):
        if self.bar is not None:
            self.bar.update(done - self.done)
        self.done = done
        now = time.monotonic()
        if self.bar is None and (now - self.shown > 0.2 or done >= self.total):
            self.shown = now
            self._print(now - self.begin)

    def _print(self, took, end=""):
        part = self.done / max(self.total, 1)
        left = took / part - took if part > 0 else 0
        print(f"\r{drawn(part)} {self.done} of {self.total} {self.label}, "
              f"{self.done / max(took, 1e-9):.0f}/s, {left:.0f} s left ", end=end, file=sys.stderr,
              flush=True)

    def close(self):
        if self.bar is not None:
            self.bar.close()
        else:
            self._print(time.monotonic() - self.begin, end="\n")
