"""A headless Chromium that shows one page, for tests and benchmarks of the view's page.

Guarantees that no page reaches a network: whatever it asks for besides its own file is recorded.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
WAIT_SECONDS = 60
Size: TypeAlias = tuple[int, int]


class Browser:
    """One window. Selectors are those of CSS."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver  # webdriver.Chrome, whose methods are typed only in part

    def resize(self, size: Size) -> None:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, page: Path, fragment: str = "") -> None:
        """Loads a page and waits until it says that it is ready."""
        self.driver.get("about:blank")
        self.console()
        self.requests()
        self.driver.get(f"{page.as_uri()}#{fragment}")
        self.wait("document.documentElement.dataset.ready === 'true'")

    def wait(self, condition: str) -> None:
        """Waits until an expression is true."""
        WebDriverWait(self.driver, WAIT_SECONDS, 0.02).until(
            lambda driver: driver.execute_script(f"return {condition}")
        )

    def script(self, text: str, *values: Any) -> Any:
        return self.driver.execute_script(text, *values)

    def frame(self) -> None:
        """Waits until what was asked for is drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 0));")

    def all(self, selector: str) -> list[WebElement]:
        found: list[WebElement] = self.driver.find_elements("css selector", selector)
        return found

    def one(self, selector: str) -> WebElement:
        found: WebElement = self.driver.find_element("css selector", selector)
        return found

    def text(self, selector: str) -> str:
        return str(self.script("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def click(self, selector: str) -> None:
        self.one(selector).click()
        self.frame()

    def click_at(self, selector: str, right: float, down: float) -> None:
        """Clicks inside an element, at shares of its width and height from its upper left corner."""
        element = self.one(selector)
        x, y = (size * (share - 0.5) for size, share in zip(_size(element), (right, down), strict=True))
        ActionChains(self.driver, duration=0).move_to_element_with_offset(element, int(x), int(y)).click().perform()
        self.frame()

    def press(self, *keys: str) -> None:
        """Keys to the page itself, not to an element that has the focus."""
        self.script("document.activeElement?.blur()")
        for key in keys:
            self.one("body").send_keys(key)
        self.frame()

    def search(self, text: str) -> None:
        field = self.one("input[type=search]")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        self.frame()

    def canvas(self, name: str) -> Mapping[str, str]:
        """What the canvas of a view says that it has drawn."""
        found = self.script("return {...document.querySelector(arguments[0])?.dataset}", f"#view-{name} canvas")
        return {str(key): str(value) for key, value in found.items()}

    def console(self) -> list[str]:
        """Messages of the console since the last call."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call, without pages of files."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        addresses = [
            str(message["params"]["request"]["url"])
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]
        return [address for address in addresses if not address.startswith(("file:", "data:", "about:"))]


def _size(element: WebElement) -> tuple[float, float]:
    return element.size["width"], element.size["height"]


@contextmanager
def open_browser(size: Size = (1440, 900)) -> Iterator[Browser]:
    """A browser that is closed at the end. `CHROMIUM` and `DRIVER` must have been found."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--window-size={size[0]},{size[1]}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    try:
        browser = Browser(driver)
        browser.resize(size)
        yield browser
    finally:
        driver.quit()
