"""Works out the steps that make a model like a bundle. Pure: reads neither store nor files."""
