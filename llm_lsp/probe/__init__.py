"""What only running can answer: shapes, memory and costs, found out in the interpreter of the user."""
