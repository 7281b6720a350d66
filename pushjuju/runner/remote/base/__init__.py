"""What all parts of the program share: paths, frames, results, output and signals."""
