"""The pages of the reader, one module for each thing that people do with a wiki."""
