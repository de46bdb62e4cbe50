"""What every room may use: errors, status codes, the one formula grammar, files, whole turns."""
