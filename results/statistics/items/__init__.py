"""Tests over test items: the numbers are one per item, of trained models."""
