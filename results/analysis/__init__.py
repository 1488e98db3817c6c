"""From runs to values: tables, rankings, comparisons; nothing here writes text for a reader."""
