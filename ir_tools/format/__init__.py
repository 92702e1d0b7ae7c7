"""Reading and writing IR."""
