"""`python -m tools.screens`: pictures of every page with docs/screens.md, and of a first study."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tools.screens.installation import ROOT, prepare_environment, run_demo

DOCS = ROOT / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.screens", description=__doc__)
    parser.add_argument("--output", type=Path, default=DOCS, help="folder of the index")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare_environment(Path(folder))
        import django

        django.setup()
        count, size = take_all(Path(folder), chosen.output)
    sys.stdout.write(f"{count} pictures, {size / 1e6:.1f} MB, in {chosen.output}\n")
    return 0


def take_all(folder: Path, output: Path) -> tuple[int, int]:
    """Take every picture; return how many there are, and their bytes."""
    from django.contrib.auth.models import User
    from playwright.sync_api import sync_playwright

    from stereoscope.local.preparation import NAME
    from tools.browsers.chromium import find_program
    from tools.screens.annotators import create_work, take_annotators
    from tools.screens.camera import Camera
    from tools.screens.first_study import take_first_study
    from tools.screens.further import create_further
    from tools.screens.index import FOLDER, write_index
    from tools.screens.participants import create_tour, take_participants
    from tools.screens.researchers import take_researchers

    # Those that are there stay until all new ones are taken.
    taken, pictures = folder / "pictures", output / FOLDER
    taken.mkdir()
    camera = Camera(taken)
    with run_demo(folder) as demo:
        owner = User.objects.get(username=NAME)
        tour, work, further = create_tour(owner), create_work(owner), create_further(owner)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_program(), args=["--no-sandbox"]
            )
            take_participants(browser, camera, demo.address, tour)
            take_annotators(browser, camera, demo.address, *work)
            take_researchers(browser, camera, demo, tour, *work, further=further)
            first = take_first_study(browser, demo.address, output)
            browser.close()
    shutil.rmtree(pictures, ignore_errors=True)
    shutil.move(taken, pictures)
    (output / "screens.md").write_text(write_index(camera.shots), encoding="utf-8")
    files = [*pictures.iterdir(), *first]
    return len(files), sum(file.stat().st_size for file in files)


if __name__ == "__main__":
    sys.exit(main())
