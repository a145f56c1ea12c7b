"""Where the boxes and lines of a picture go: nested boxes, each in layers."""
