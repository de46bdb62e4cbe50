"""The library of compiled types, the program of a mechanism and the one sequencer that runs it."""
