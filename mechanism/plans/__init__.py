"""From the topology of a group to its specification: its coordinates, its equations, where its numbers come from."""
