"""From the topology of a group to its specification: coordinates, equations, and where its numbers come from."""
