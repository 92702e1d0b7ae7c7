"""What is timed runs as users run it: without the filled memory of the other tests."""

import os

os.environ.pop("MALLOC_PERTURB_", None)
