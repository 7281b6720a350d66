"""What a decision and a hook see of the model; reads only."""
