"""Where trials run: processes, cores, ports, and what this machine is."""
