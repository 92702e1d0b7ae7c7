"""Random networks of blocks as models have them."""

from tests.releases.networks import anything, bodies, images, rows, stored, volumes
from tests.releases.networks.network import network

__all__ = ["anything", "bodies", "images", "network", "rows", "stored", "volumes"]
