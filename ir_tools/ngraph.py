"""Build a model that computes nGraph's AvgPool-0; `docs/ngraph-average-pooling.md` has an example and the source."""

from ir_tools.importers.ngraph import avg_pool, to_model

__all__ = ["avg_pool", "to_model"]
