"""Numbers of a design: how every number of a mechanism follows from its parameters."""
