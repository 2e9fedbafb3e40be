"""Pages of HTML and pictures of SVG, made from templates that escape what they are given. Read `page.py`."""
