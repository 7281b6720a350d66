"""The dashboard as a part of a server: login, pages, files, and the stream of changes."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote

from aiohttp import web

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import PushjujuError, StoreBusy, StoreError
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models
from pushjuju.services.views import entity_news
from pushjuju.web import errors, login
from pushjuju.web.api import Api
from pushjuju.web.call import is_superuser
from pushjuju.web.login import LoggedIn, Proof
from pushjuju.web.pages import guard, rendering, sessions, shared
from pushjuju.web.pages.addresses import ROOT, ModelPages, is_page
from pushjuju.web.pages.changing import uploads
from pushjuju.web.pages.changing.posts import Posts
from pushjuju.web.pages.routes import PAGES
from pushjuju.web.pages.streams import Streams
from pushjuju.web.pages.visit import Content, NoModel, Page, Visit, may_see, visit_of

_READS_ONLY = "this dashboard only reads: it was started with --read-only"
_LARGEST_CHANGE, _MOST_FIELDS = 1 << 20, 5000
_BUSY_S = "5"
_STATUS = {errors.UNAUTHORIZED: 401, errors.TRY_AGAIN: 429, errors.NOT_FOUND: 404, "not valid": 400}
_TEXTS = {404: "There is no such page.", 405: "This address takes no such request."}
_PATIENT = {"Cache-Control": "public, max-age=31536000, immutable"}
T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """The pages of one server."""

    def __init__(
        self,
        api: Api,
        names: Callable[[], Collection[str]],
        *,
        secure: bool,
        lasting: bool = False,
        read_only: bool = False,
    ) -> None:
        """Make the pages.

        Args:
            names: Returns the names of the server, which a request may have in its header Host.
            secure: True when browsers reach the server with TLS.
            lasting: True when browsers may take TLS for granted during a year.
            read_only: True when no page changes anything.
        """
        self._api = api
        self._names = names
        self._secure = secure
        self.headers = {**guard.HEADERS, **(guard.TLS_FOR_A_YEAR if lasting else {})}
        self._cookie = "__Host-pushjuju" if secure else "pushjuju"
        self._streams = Streams(api, self.headers)
        self._shared = shared.Shared()
        self.links = sessions.Links(time.monotonic)
        self._posts = Posts(api)
        self._reads_only = read_only

    def application(self) -> web.Application:
        """Return the application to mount at `/ui/`."""
        made = web.Application(middlewares=[self.guarded])
        made.router.add_get("/login", self._ask)
        made.router.add_post("/login", self._log_in)
        made.router.add_post("/logout", self._log_out)
        made.router.add_get("/enter", self._follow_link, allow_head=False)  # a HEAD would use it up
        made.router.add_get("/static/{version}/{name}", self._file)
        made.router.add_get("/events", self._events)
        made.router.add_get("/m/{owner}/{model}/events", self._events)
        made.router.add_post("/m/{owner}/{model}/plan", self._post)
        made.router.add_post("/m/{owner}/{model}/apply", self._post)
        made.router.add_post("/m/{owner}/{model}/upload", self._take_file)
        for page in PAGES:
            made.router.add_get(page.path, self._handler(page))
        return made

    # --- every request ------------------------------------------------------------------------------------

    @web.middleware
    async def guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check the server's name in a request, show errors as pages, and add the headers of all answers."""
        try:
            if not guard.is_own_host(request.headers.getall("Host", []), self._names()):
                raise web.HTTPMisdirectedRequest(text="this server has another name")
            if self._reads_only and request.method not in ("GET", "HEAD"):
                raise web.HTTPForbidden(text=_READS_ONLY)
            answer = await handler(request)
        except web.HTTPException as error:
            unrouted = error is request.match_info.http_exception  # there is no such address
            text = _TEXTS.get(error.status) if unrouted else error.text
            answer = self._failed(request, error.status, text or error.reason)
            if "Location" in error.headers:
                answer = _go_to(error.headers["Location"])
        except Exception as error:  # noqa: BLE001 - a bug ends a request, never the server
            told = errors.told(error)
            said = error.full_text if isinstance(error, StoreError) and not self._secure else told["message"]
            otherwise = 400 if isinstance(error, PushjujuError) and not isinstance(error, StoreError) else 500
            status = 503 if isinstance(error, StoreBusy) else _STATUS.get(told["code"], otherwise)
            answer = self._failed(request, status, said, to_model=not isinstance(error, NoModel))
        if not answer.prepared:
            answer.headers.update(self.headers)
            answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    def _failed(self, request: web.Request, status: int, text: str, *, to_model: bool = True) -> web.Response:
        if guard.wants_json(request):
            return web.json_response({"error": text}, status=status)
        title = "This was not done" if request.method == "POST" else "This cannot be shown"
        path = request.match_info
        back = (
            ModelPages.of(f"{path['owner']}/{path['model']}").page() if to_model and "model" in path else ""
        )
        values = {"title": title, "text": text, "back": back, "user": ""}
        if status == 503 and request.method == "GET":  # the page comes by itself when the store is free
            values |= {"to": request.path_qs, "after": _BUSY_S}
        return self._html("told.html", values, status)

    def _html(self, template: str, values: dict[str, Any], status: int = 200) -> web.Response:
        text = rendering.render(template, SystemClock().now(), values)
        made = web.Response(text=text, content_type="text/html", status=status)
        made.enable_compression()
        return made

    # --- login --------------------------------------------------------------------------------------------

    async def _read(
        self, request: web.Request, read: Callable[[Context, LoggedIn], T], *, use: bool = True
    ) -> T | None:
        """Return what a function reads for the user of a session, whose rights are checked now; or None."""
        if not (token := self._token(request)):
            return None

        def checked(ctx: Context) -> T | None:
            found = sessions.find(ctx, token, use=use)
            return read(ctx, found) if found else None

        return await self._api.pool.run(checked)

    def _token(self, request: web.Request) -> str:
        return request.cookies.get(self._cookie, "")

    async def _user(self, request: web.Request, *, use: bool = True) -> LoggedIn | None:
        return await self._read(request, lambda _, found: found, use=use)

    async def _may_follow(self, request: web.Request) -> bool:
        """Return True while a session lasts, and its user may read the model of the stream."""
        sees = await self._read(request, lambda ctx, found: may_see(ctx, found.user, request), use=False)
        return bool(sees)

    async def _required(self, request: web.Request) -> LoggedIn:
        """Return the user of a request, or send the browser to the login form.

        What a page asks for by itself, to stay live, lengthens no session.
        """
        use = shared.LIVE not in request.headers
        return await self._user(request, use=use) or self._send_to_login(request)

    def _send_to_login(self, request: web.Request) -> NoReturn:
        if guard.wants_json(request):
            raise web.HTTPUnauthorized(text="log in first: the form at /ui/login gives a cookie")
        raise web.HTTPSeeOther(f"{ROOT}login?to={quote(request.path_qs)}")

    async def _ask(self, request: web.Request) -> web.Response:
        return self._login_form(request.query.get("to", ""))

    def _login_form(self, to: str, name: str = "", told: str = "", status: int = 200) -> web.Response:
        values = {"title": "Log in", "to": to, "name": name, "told": told, "by_link": self._reads_only}
        return self._html("login.html", {**values, "user": ""}, status)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        guard.require_same_origin(request)
        form = await guard.read_form(request)
        name, to = form.get("name", ""), form.get("to", "")
        try:
            proof = Proof(name=name, password=form.get("password", ""))
            entered = await self._api.logins.check_proof(proof, peer=request.remote or "")
        except errors.ApiError as error:
            told = "Name or password is wrong, or the user may not log in."
            if error.code == errors.TRY_AGAIN:
                told = "Too many wrong passwords: wait a minute, then try again."
            return self._login_form(to, name, told, _STATUS.get(error.code, 401))
        answer = _go_to(to if is_page(to) else ROOT)
        await self._begin(answer, entered)
        return answer

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        guard.require_same_origin(request)
        await self._api.pool.run(lambda ctx: sessions.end(ctx, self._token(request)))
        answer = _go_to(f"{ROOT}login")
        answer.del_cookie(self._cookie, path=self._path, secure=self._secure)
        return answer

    async def _follow_link(self, request: web.Request) -> web.Response:
        """Log in with the token of a link; a page goes on, as a redirect would have no strict cookie."""
        token = request.query.get("token", "")
        known = self.links.follow(token)
        entered = known or await self._api.pool.run(lambda ctx: login.follow(ctx, token))
        if entered is None:
            text = "This link has been used, or is too old. `pushjuju dashboard` makes another."
            return self._failed(request, 403, text)
        answer = self._html("told.html", {"title": "You are logged in", "user": "", "to": ROOT})
        await self._begin(answer, entered)
        return answer

    @property
    def _path(self) -> str:
        return "/" if self._secure else "/ui"

    async def _begin(self, answer: web.StreamResponse, entered: LoggedIn) -> None:
        token = await self._api.pool.run(lambda ctx: sessions.begin(ctx, entered))
        answer.set_cookie(
            self._cookie, token, path=self._path, secure=self._secure, httponly=True, samesite="Strict"
        )

    # --- pages --------------------------------------------------------------------------------------------

    def _handler(self, page: Page) -> Handler:
        async def answer(request: web.Request) -> web.StreamResponse:
            as_json = guard.wants_json(request)
            if shared.may_share(request) and not as_json and not page.writes:
                return await self._shared_answer(page, request)
            entered = await self._required(request)

            def made(ctx: Context) -> tuple[str, str, Mapping[str, str]]:
                visit = visit_of(ctx, entered.user, request)
                with ctx.store.read() as tx:  # before the page is read: a change meanwhile is news for it
                    seen = entity_news.sign(ctx, tx, visit.found.uuid if visit.found else "")
                content = page.read(visit)
                if as_json:
                    return rendering.document(content), "application/json", {}
                if content.file:
                    return content.file.text, "application/octet-stream", _attached(content.file.name)
                values = _values(page.template, visit, content, "writes" if page.writes else f"seen={seen}")
                values |= self._of_forms(request, visit)
                return rendering.render(page.template, visit.now, values), "text/html", {}

            text, kind, headers = await self._api.pool.run(made)
            found = web.Response(text=text, content_type=kind, headers={"Vary": "Accept", **headers})
            found.enable_compression()
            return found

        return answer

    async def _shared_answer(self, page: Page, request: web.Request) -> web.Response:
        """Return a page that other requests of the user may get as well, without the proof of a session."""

        def key(ctx: Context, entered: LoggedIn) -> tuple[Any, ...]:
            user, model = entered.user, visit_of(ctx, entered.user, request).model
            with ctx.store.read() as tx:
                rights = (
                    models.access_level(tx, user, model),
                    users.effective_level(tx, user, Kind.CONTROLLER),
                )
                return user, request.path_qs, *rights, entity_news.sign(ctx, tx, model.uuid)

        found = await self._read(request, key, use=False) or self._send_to_login(request)

        def made(ctx: Context) -> bytes:
            visit = visit_of(ctx, found[0], request)
            values = _values(page.template, visit, page.read(visit), f"seen={found[-1]}")
            values |= {**self._of_forms(request, visit), "csrf": ""}
            return shared.packed(rendering.render(page.template, visit.now, values))

        return shared.answer(await self._shared.get(found, lambda: self._api.pool.run(made)))

    def _of_forms(self, request: web.Request, visit: Visit) -> dict[str, Any]:
        """Return the values that forms and links need: what the user may do, and the proof of the session."""
        administers = visit.may("admin")
        return {
            "may_change": not self._reads_only and visit.may("write"),
            "may_destroy": not self._reads_only and administers,
            "may_post": not self._reads_only,
            "administers": administers,
            "superuser": is_superuser(visit.ctx),
            "csrf": sessions.mark(self._token(request)),
            "here": request.path,
        }

    async def _post(self, request: web.Request) -> web.StreamResponse:
        """Show the plan of a change, or make the change."""
        guard.require_same_origin(request)
        entered = await self._required(request)
        form = await guard.read_form(request, _LARGEST_CHANGE, _MOST_FIELDS)
        if not sessions.is_mark(self._token(request), form.pop("csrf", "")):
            raise web.HTTPForbidden(text=uploads.FOREIGN)
        visit = await self._api.pool.run(lambda ctx: visit_of(ctx, entered.user, request))
        shown = await self._posts.answer(visit, entered, form, apply=request.path.endswith("/apply"))
        if shown is None:
            to = form.get("back", "")
            return _go_to(to if is_page(to) else visit.pages.page())

        def made(ctx: Context) -> str:
            again = visit_of(ctx, entered.user, request)
            values = _values("plan.html", again, shown, "") | self._of_forms(request, again)
            return rendering.render("plan.html", again.now, values)

        answer = web.Response(text=await self._api.pool.run(made), content_type="text/html")
        answer.enable_compression()
        return answer

    async def _take_file(self, request: web.Request) -> web.StreamResponse:
        """Attach a file of the browser's computer as a resource."""
        guard.require_same_origin(request)
        entered = await self._required(request)
        is_own = partial(sessions.is_mark, self._token(request))
        visit = await self._api.pool.run(lambda ctx: visit_of(ctx, entered.user, request))
        await uploads.take(self._api, visit, entered, request, is_own)
        return _go_to(visit.pages.page("resources"))

    async def _file(self, request: web.Request) -> web.Response:
        found = rendering.files().get(request.match_info["name"])
        if found is None or request.match_info["version"] != rendering.version():
            raise web.HTTPNotFound(text="there is no such file")
        data, kind = found
        answer = web.Response(body=data, content_type=kind, charset="utf-8", headers=_PATIENT)
        answer.enable_compression()
        return answer

    # --- the stream of changes ----------------------------------------------------------------------------

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Say when a model has changed, until the session or the server ends."""
        entered = await self._user(request, use=False)
        if entered is None:
            raise web.HTTPUnauthorized(text="the session is over")
        visit = await self._api.pool.run(lambda ctx: visit_of(ctx, entered.user, request))
        model = visit.found.uuid if visit.found else ""
        return await self._streams.answer(request, entered.user, model, partial(self._may_follow, request))


def _values(template: str, visit: Visit, content: Content, follows: str) -> dict[str, Any]:
    """Return the values of a template: those of the page, and those of all pages.

    Args:
        follows: The query for the stream of changes.
    """
    pages = visit.pages if visit.found else ModelPages(ROOT)
    return {
        **content.values,
        "title": content.title,
        "command": content.command,
        "crumbs": content.crumbs,
        "page": content.values.get("page", template.removesuffix(".html")),
        "user": visit.ctx.user,
        "controller": visit.ctx.controller.name,
        "model": visit.found,
        "pages": pages,
        "left": visit.is_left,
        "unworked": visit.unworked,
        "notes": "\n".join(visit.notes()),
        "events": f"{pages.page('events')}?{follows}",
    }


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _go_to(address: str) -> web.Response:
    return web.Response(status=303, headers={"Location": address})
