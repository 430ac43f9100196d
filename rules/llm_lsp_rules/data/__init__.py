"""What comes to the model, and how often."""
