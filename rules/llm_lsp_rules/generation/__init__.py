"""What is asked of models when they generate, and what they then return."""
