"""Remit keeps a coding agent inside its remit, and sends back every patch made from a text that is no longer there."""

__version__ = "0.1.0"
