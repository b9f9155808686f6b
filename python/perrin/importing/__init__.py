"""What translators of other programs' scripts share: lines, results, jobs in parts, their text."""
