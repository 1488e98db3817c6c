"""Plans, schedules, trains, generates and scores; the only package that knows the others."""
