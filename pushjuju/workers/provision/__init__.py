"""Gets machines ready: start instances, take in users' machines, set them up."""
