"""Boosted latent factors."""
