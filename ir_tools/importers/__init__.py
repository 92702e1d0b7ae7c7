"""Models of other formats, by average pooling that means exactly the same: a module or folder per format."""
