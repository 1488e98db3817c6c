"""From the kept files of a run to scores, without torch."""
