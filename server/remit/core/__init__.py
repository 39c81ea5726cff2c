"""What Remit knows and decides: pure, with no clock, file, thread, process, protocol or log."""
