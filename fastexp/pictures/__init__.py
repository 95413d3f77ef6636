"""Pictures of exact laws, and of draws beside them; what mechanisms are called there."""
