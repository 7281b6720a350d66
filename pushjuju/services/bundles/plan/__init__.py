"""Works out the steps that make a model what a bundle describes. Pure: reads neither store nor files."""
