"""What Juju's commands tell, as plain documents."""
