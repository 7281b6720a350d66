"""Values and rules of what stands in a model: life, placement, ports, offers, secrets, tasks, zones."""
