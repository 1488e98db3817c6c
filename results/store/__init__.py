"""The store of all runs; only this folder speaks SQL."""

from results.store.reader import Reader
from results.store.store import Store

__all__ = ["Reader", "Store"]
