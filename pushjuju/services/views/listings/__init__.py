"""Documents of listings, such as users, secrets or storage pools: one module for each noun."""
