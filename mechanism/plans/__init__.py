"""From the topology of a group to its specification: its coordinates, its equations, and where its numbers come from."""
