"""The task: find personal data in Indian documents. Imports no torch."""
