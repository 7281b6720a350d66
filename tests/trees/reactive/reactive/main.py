# no handlers
