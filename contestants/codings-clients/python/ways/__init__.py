"""One module for each library."""
