"""Changing models: a rewrite put into a graph, migrations of whole models, parts cut out of them."""
