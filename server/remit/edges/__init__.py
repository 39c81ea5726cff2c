"""The doors: each translates, calls the session, and translates back. No door knows another."""
