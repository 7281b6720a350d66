"""The facades of the API, a module each. They read params, call requests and views, and make the results."""
