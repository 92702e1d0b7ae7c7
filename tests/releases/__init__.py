"""The table of releases against the releases themselves."""
