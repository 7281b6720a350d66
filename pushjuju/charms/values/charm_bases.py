"""Chooses the base of an application. Mirrors: juju cmd/juju/application baseselector.go (3.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.quote import quote

# The workload bases of the Juju version that pushjuju emulates. Admins add others (`extra_bases`).
WORKLOAD_BASES = (
    Base("ubuntu", "24.04"),
    Base("ubuntu", "22.04"),
    Base("ubuntu", "20.04"),
    Base("centos", "9"),
    Base("centos", "7"),
    Base("genericlinux", "genericlinux"),
)
DEFAULT_LTS = Base("ubuntu", "24.04")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRequest:
    """What the user and the model set about the base."""

    requested: Base | None = None  # `--base`, or the value in a bundle
    model_default: Base | None = None  # the model's `default-base`, or None when it was not set
    image_id: bool = False  # True when an image-id constraint applies
    force: bool = False  # True with `--force`: bases that the charm does not name are allowed
    daily_images: bool = False  # True with `image-stream: daily`: the requested base counts as supported
    extra_bases: Sequence[Base] = ()  # bases that the admin supports in addition to Juju's
    source: bool = False  # True for a source tree, which is built for whichever base is chosen

    @property
    def wanted(self) -> Base | None:
        """The base that the user, or else the model, asks for."""
        return self.requested or self.model_default


def choose_base(charm: str, charm_bases: Sequence[Base], request: BaseRequest) -> Base:
    """Return the base to deploy a charm on.

    Args:
        charm_bases: The bases that the charm names, in the charm's order (`Charm.bases()`).
        request: The settings of the user and the model.

    Raises:
        NotValid: No base fits; the message is Juju's.
    """
    wanted = request.wanted
    if request.image_id and request.requested is None:
        raise NotValid("base must be explicitly provided when image-id constraint is used")
    known = _known(request)
    if wanted and not _among(wanted, known):
        raise NotValid(f"{charm} is not available on the following base: {wanted} not supported")
    if wanted and request.force:
        return wanted
    if not charm_bases:
        raise NotValid("charm does not define any bases, not valid")
    usable = [base for base in charm_bases if _among(base, known)]
    if not usable:
        named = ", ".join(base.display for base in charm_bases)
        raise NotValid(f"the charm defined bases {quote(named)} not supported")
    if wanted:
        return _requested(wanted, usable, from_model=request.requested is None)
    if _among(DEFAULT_LTS, usable):
        return DEFAULT_LTS
    return newest(usable) if request.source else usable[0]


def newest(bases: Sequence[Base]) -> Base:
    """Return the newest of the bases with the same operating system as the first base.

    Source trees often name the oldest base first. Juju has no rule for source trees: charmcraft makes an
    archive for each base, and the user chooses one of them.
    """
    own = [base for base in bases if base.os == bases[0].os]
    return max(own, key=lambda base: [int(part) for part in re.findall(r"\d+", base.track)])


def _known(request: BaseRequest) -> tuple[Base, ...]:
    extra = (*request.extra_bases, request.wanted) if request.daily_images else request.extra_bases
    return (*WORKLOAD_BASES, *(base for base in extra if base))


def _among(base: Base, bases: Iterable[Base]) -> bool:
    return any(base.matches(other) for other in bases)


def _requested(wanted: Base, usable: Sequence[Base], *, from_model: bool) -> Base:
    if _among(wanted, usable):
        return wanted
    names = ", ".join(base.display for base in usable)
    text = f"base {quote(str(wanted))} is not supported, supported bases are: {names}"
    used = " Used the default-base." if from_model else ""
    raise NotValid(f"{text}. Use --force to deploy the charm anyway.{used}")
