"""The dual of norms of whole functions: an interior point method over second-order cones."""
