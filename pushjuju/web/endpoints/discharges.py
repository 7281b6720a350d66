"""HTTP endpoints `/auth`, by which a client without a macaroon logs in with a password, as `juju login` does.

The answer to a Login with `bakery-version` and without a valid proof has a macaroon, `discharge-required`,
whose caveat names `/auth`. The client posts the caveat's id to `/auth/discharge`, as the field `id` of a
form. Without a proof of the user, the answer (status 401) names `/auth/login`: there the client posts
`user` and `password` as a form, and gets a macaroon in the cookie `macaroon-login`, which is good for 24
hours. With this cookie, both `/auth/wait` and `/auth/discharge` answer `{"Macaroon": DISCHARGE}`.

The cookie's value is base64 of a JSON list with one macaroon. A client may send this list in Login, too, as
an item of `macaroons`, and needs no discharge then; so a client that has a password only needs
`/auth/login`. Mirrors: juju apiserver/locallogin.go (3.6), httpbakery of go-macaroon-bakery
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from pushjuju.core.errors import PushjujuError
from pushjuju.web import errors, macaroons
from pushjuju.web.endpoints.transfers import COOKIE, cookie_value, presented, read_small, refusal
from pushjuju.web.login_macaroons import BRIEF, LIFETIME

if TYPE_CHECKING:
    from pushjuju.web.api import Api
    from pushjuju.web.macaroons import Macaroon

_LONGEST = 16 * 1024  # bytes of a form
_FORM = "application/x-www-form-urlencoded"


class Discharges:
    """Discharges the macaroons of users who prove who they are."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def routes(self) -> list[web.RouteDef]:
        """Return the paths of logins."""
        return [
            web.post("/auth/discharge", self._discharge),
            web.get("/auth/login", self._methods),
            web.post("/auth/login", self._login),
            web.get("/auth/wait", self._wait),
        ]

    async def _discharge(self, request: web.Request) -> web.Response:
        try:
            form = await _form(request)
            return await self._discharged(request, _caveat(form))
        except PushjujuError as error:
            return _refused(error)

    async def _wait(self, request: web.Request) -> web.Response:
        try:
            return await self._discharged(request, request.query.get("waitid", ""), may_interact=False)
        except PushjujuError as error:
            return _refused(error)

    async def _discharged(
        self, request: web.Request, caveat: str, *, may_interact: bool = True
    ) -> web.Response:
        """Return the discharge of a caveat, or where to log in, for a client without a proof of its user.

        Raises:
            ApiError: The caveat is unknown or too old; or there is no proof, and no time to log in.
        """
        made = self._api.logins.macaroons
        demand = made.demand(caveat)
        if demand is None:
            raise errors.ApiError("the caveat is not known or too old", errors.BAD_REQUEST)
        user = await self._api.logins.user_of(presented(request), at_login=False)
        if user == demand.user:
            return web.json_response({"Macaroon": made.discharge(caveat, demand).document()})
        if not may_interact:
            raise errors.refused_login()
        wanted = urlencode({"waitid": caveat})
        info = {"VisitURL": f"/auth/login?{wanted}", "WaitURL": f"/auth/wait?{wanted}"}
        body = {"Code": "interaction required", "Message": "interaction required", "Info": info}
        return web.json_response(body, status=401, headers={"WWW-Authenticate": "Macaroon"})

    async def _methods(self, request: web.Request) -> web.Response:
        """Tell a client how it can log in."""
        return web.json_response({"juju_userpass": request.rel_url.raw_path_qs})

    async def _login(self, request: web.Request) -> web.Response:
        try:
            form = await _form(request)
            name, password = form.get("user", "").removesuffix("@local"), form.get("password", "")
            logins = self._api.logins
            await logins.check(name, password, peer=request.remote or "")
            made = await logins.macaroon(name, logins.macaroons.login)
        except PushjujuError as error:
            return _refused(error)
        answer = web.json_response({})
        set_cookie(answer, made, brief=False)
        return answer


def set_cookie(answer: web.Response, made: Macaroon, *, brief: bool) -> None:
    """Give a macaroon to a client, which keeps it as a cookie; `brief` for one that only discharges."""
    seconds = int((BRIEF if brief else LIFETIME).total_seconds())
    answer.set_cookie(
        COOKIE, cookie_value(made), max_age=seconds, secure=True, httponly=True, samesite="Strict"
    )


async def _form(request: web.Request) -> dict[str, str]:
    """Return the fields of a form; raise ApiError when the body is too large or slow, or not a form."""
    body = await read_small(request, _LONGEST)
    if request.content_type != _FORM:
        raise errors.ApiError("the body must be a form", errors.BAD_REQUEST)
    try:
        return dict(parse_qsl(body.decode(), max_num_fields=20))
    except ValueError:
        raise errors.ApiError("the body must be a form", errors.BAD_REQUEST) from None


def _caveat(form: dict[str, str]) -> str:
    """Return the id of the caveat that a form names, which is text."""
    encoded = form.get("id64", "")
    try:
        return form.get("id", "") or macaroons.read_base64(encoded).decode()
    except ValueError:
        return ""


def _refused(error: PushjujuError) -> web.Response:
    return refusal(error, lambda found: {"Code": found["code"], "Message": found["message"]})
