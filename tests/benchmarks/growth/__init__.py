"""Growth of time and memory with the size of a file: one kind of file for each dimension that a file can have."""
