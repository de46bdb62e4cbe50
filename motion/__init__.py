"""How the mechanism moves: plans of its groups, the program that runs them, and the results."""
