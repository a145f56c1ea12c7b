"""Schedules: which commands wait for which others, in three orders; costs and the critical path."""
