"""cgraph: GPU programs as typed command graphs. Start reading at `cgraph.pipeline`."""
