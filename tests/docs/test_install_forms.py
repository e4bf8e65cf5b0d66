"""Pages install ssdpt as the install page does: from the clone, or with a wheel beside them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import ROOT, name_of, pages

FROM_CLONE = re.compile(r"pip install --constraint constraints\.txt '\.\[[a-z,]+\]'( jupyterlab)?")
FROM_WHEEL = re.compile(r'pip install "\$\(ls ssdpt-\*\.whl\)\[[a-z,]+\]"')
# Where ssdpt is there already: what errors say, and the page that explains it.
LATER = re.compile(r"pip install 'ssdpt\[[a-z,]+\]'")
MAY_SAY_LATER = {"how-to/install.md", "how-to/listening.md", "reference/help.md"}
_INSTALL = re.compile(r"pip install (?:[^`\n]*?)(?:ssdpt|\.)['\"]?(?:\[|\*)[^`\n#]*")


@pytest.mark.parametrize("page", [*pages()], ids=name_of)
def test_the_page_installs_by_the_forms_of_the_install_page(page: Path) -> None:
    forms = [FROM_CLONE, FROM_WHEEL, *([LATER] if name_of(page) in MAY_SAY_LATER else [])]
    commands = _INSTALL.findall(page.read_text("utf-8"))
    assert [one for one in commands if not any(form.match(one) for form in forms)] == []


def test_the_install_page_has_each_form() -> None:
    text = (ROOT / "docs/how-to/install.md").read_text("utf-8")
    assert all(form.search(text) for form in (FROM_CLONE, FROM_WHEEL, LATER))


def test_a_part_more_needs_no_other_ssdpt() -> None:
    """Nothing is fetched: pip takes the ssdpt that is installed."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "ssdpt[train,voice]"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout
