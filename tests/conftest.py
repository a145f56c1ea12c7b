"""Options of the whole test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--refresh-goldens",
        action="store_true",
        help="write expected outputs anew; read the difference before committing it",
    )


@pytest.fixture(scope="session")
def refresh_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--refresh-goldens"))
