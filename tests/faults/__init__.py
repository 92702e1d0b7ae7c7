"""Broken and valid files with known truth, made from small models, and what `ir_tools.validate` makes of them."""
