"""Pictures of a model: from the status document to a graph, a layout, and SVG, DOT or Mermaid. Pure."""
