"""Any value of this package as JSON, with every number as it is."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any


def to_json(value: Any) -> str:
    """Write frozen values, or lists of them, as indented JSON.

    >>> from results.statistics.test import Undefined
    >>> print(to_json([Undefined("one seed")]))
    [
      {
        "reason": "one seed"
      }
    ]
    """
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else asdict(value)
