"""What a program lets others do by way of it."""
