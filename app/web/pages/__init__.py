"""The pages of the reader, one module for each task of people in a wiki."""
