"""How Sphinx makes the site; `scripts/docs` calls it on a copy of the pages, where links between them hold."""

import importlib.util
import os

project = "pnmf"
author = "the pnmf authors"
release = os.environ["PNMF_DOCS_VERSION"]
root_doc = "docs/site/index"
language = "en"

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["**/node_modules"]

# Headings get the names that GitHub gives them, so that one link serves both.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]

breathe_projects = {"pnmf": os.environ["PNMF_DOCS_XML"]}
breathe_default_project = "pnmf"
cpp_id_attributes = ["PNMF_API"]

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_typehints = "signature"

html_theme = "sphinx_rtd_theme" if importlib.util.find_spec("sphinx_rtd_theme") else "alabaster"
html_title = f"pnmf {release}"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["katex/katex.min.css", "pages.css"]
html_js_files = ["katex/katex.min.js", "katex/contrib/auto-render.js", "formulas.js"]
html_math_renderer = "katex"
# Links to sources stay files to download.
suppress_warnings = ["myst.header", "epub.unknown_project_files"]


def setup(app):
    """Formulas stay as they are written, for KaTeX in the browser. Sphinx's own way asks a server on the net."""

    def inline(translator, node):
        translator.body.append(translator.starttag(node, "span", "", CLASS="math") + "\\(" + translator.encode(node.astext()) + "\\)</span>")
        raise nodes.SkipNode

    def block(translator, node):
        translator.body.append(translator.starttag(node, "div", "", CLASS="math") + "\\[" + translator.encode(node.astext()) + "\\]</div>")
        raise nodes.SkipNode

    from docutils import nodes

    app.add_html_math_renderer("katex", (inline, None), (block, None))
