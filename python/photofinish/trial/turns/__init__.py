"""The driver of resident clients and uploaders: they repeat on command, in turns, against our own origin."""
