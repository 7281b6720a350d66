"""The document of `status`: rows from the store, the document itself, and its filter."""
