"""Charts as SVG: values to pictures, and pictures drawn by matplotlib."""
