"""Vehicle routing by branch-and-price: routes are columns, and found by labelling."""

from cgboost.integer.routing.route_files import RoutingData, read_routes
from cgboost.integer.routing.routing_pricer import RoutingPricer

__all__ = ["RoutingData", "RoutingPricer", "read_routes"]
