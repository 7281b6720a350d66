"""Files of pushjuju on the machine, and archives."""
