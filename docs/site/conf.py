# SPDX-License-Identifier: Apache-2.0
"""Sphinx' settings for the site; stage.py makes the folder that it reads."""

project = "Berth"
html_title = "Berth"
author = "the authors of Berth"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}

# A heading's anchor is what forges make of it.
myst_heading_anchors = 4
# Blocks with an ellipsis are no valid JSON.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_show_copyright = False
# The pages are in the tree.
html_copy_source = False
html_show_sourcelink = False
