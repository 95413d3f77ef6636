"""Pictures of exact laws, and of draws beside them."""
