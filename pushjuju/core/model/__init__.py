"""Values and rules of a model's entities: life, placement, ports, offers, secrets, tasks, zones."""
