"""How the site is built; `make docs` gathers its pages in a folder of their own first."""

from importlib import metadata

project, author = "Veil", "The Veil developers"
copyright = author
release = metadata.version("veil")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_gallery.gen_gallery"]
myst_heading_anchors = 4  # links to headings, as on GitHub
myst_links_external_new_tab = True
suppress_warnings = ["config.cache"]  # the order of the gallery is a function
exclude_patterns = ["examples", "gallery/*.ipynb", "gallery/*.py"]

autodoc_default_options = {"members": True, "exclude-members": "model_config, set_fit_request, set_score_request"}
autodoc_typehints = "none"  # signatures stay readable; the words say what goes in
autoclass_content = "class"

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "Veil"
html_static_path: list[str] = []
html_theme_options = {"light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0072b2"}}
html_show_sphinx = False
default_role = "code"  # docstrings write `code` as Markdown does


def setup(app) -> None:
    """Let a docstring say |x| without meaning a substitution."""
    app.connect("autodoc-process-docstring", lambda *event: _plain(event[-1]))


def _plain(lines: list[str]) -> None:
    lines[:] = [line.replace("|", r"\|") if not line.lstrip().startswith(">>>") else line for line in lines]
