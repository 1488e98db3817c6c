"""Answers and likelihoods of a trained model."""
