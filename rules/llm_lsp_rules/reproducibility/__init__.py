"""What makes two runs differ."""
