"""Tests over training runs: the numbers of a method are one per seed."""
