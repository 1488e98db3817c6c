"""The store of all runs; only this folder speaks SQL."""

from results.store.last_seen import LastSeen
from results.store.reader import Reader
from results.store.store import Store

__all__ = ["LastSeen", "Reader", "Store"]
