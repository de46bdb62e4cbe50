"""A program followed through time: assembly modes, branches, change points; outcome, results and their files."""
