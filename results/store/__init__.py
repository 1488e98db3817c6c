"""The store of all runs; only this folder speaks SQL."""

from results.store.store import Reader, Store

__all__ = ["Reader", "Store"]
