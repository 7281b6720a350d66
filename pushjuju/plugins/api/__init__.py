"""The public types of the plugin API, one module for each subject."""
