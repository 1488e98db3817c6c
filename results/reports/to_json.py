"""Any value of this package as strict JSON, with every number as it is."""

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

from results.statistics.power import detectable
from results.statistics.test import Test
from results.texts import in_json


def to_json(value: Any) -> str:
    """Write frozen values, or lists of them, as indented JSON.

    A number that is not finite is one of the texts "NaN", "Infinity" and "-Infinity", as in run
    folders: JSON has no such numbers, and other programs refuse a file that holds them bare.

    >>> from results.statistics.test import Undefined
    >>> print(to_json([Undefined("one seed"), float("inf")]))
    [
      {
        "reason": "one seed",
        "withheld": false
      },
      "Infinity"
    ]
    """
    plain = json.loads(json.dumps(value, default=_plain), parse_constant=str)
    return in_json(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    # Not asdict, which copies all that is below.
    plain = {field.name: getattr(value, field.name) for field in fields(value)}
    return plain | {"detectable": detectable(value)} if isinstance(value, Test) else plain
