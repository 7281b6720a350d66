"""What tests of several clouds share."""

from tests.clouds.certificates import certificate, public  # noqa: F401
