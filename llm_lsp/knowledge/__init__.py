"""What we know of other people's libraries and checkpoints: data files and their readers."""
