"""A real browser with no network, for whoever looks at pages.

A browser that is not on the machine skips its tests and says so; where EVENODDS_REQUIRE_ALL is set it fails them.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager

from engines import missing, needed

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Page:
    """A page in a browser, and everything that it asked for or complained of."""

    def __init__(self, page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    def __getattr__(self, name):
        return getattr(self.page, name)


class Browser:
    """Debian's chromium or another of its kind, driven by playwright."""

    def __init__(self) -> None:
        api = needed("playwright.sync_api")
        path = next((found for name in NAMES if (found := shutil.which(name))), None)
        if path is None:
            missing(f"no browser was found (looked for {', '.join(NAMES)}; Debian: apt-get install chromium)")
        self._driver = api.sync_playwright().start()
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        self._browser = self._driver.chromium.launch(executable_path=path, args=flags)

    @contextmanager
    def opened(self, place, **options):
        """A file on a page of its own, and whatever else it asks for is refused; or what a server of ours has there."""
        context = self._browser.new_context(**options)
        served = isinstance(place, str)
        context.set_offline(not served)
        page = Page(context.new_page())
        page.goto(place if served else place.as_uri())
        try:
            yield page
        finally:
            context.close()

    def stop(self) -> None:
        self._browser.close()
        self._driver.stop()
