"""What a library has renamed, moved or taken away."""
