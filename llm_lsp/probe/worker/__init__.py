"""What runs in the user's interpreter: itself, the standard library, torch and transformers, nothing else of ours."""
