"""Makes the manual page from the command tree; the same tree gives the same page. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pushjuju.cli.syntax.gnuflag import FlagSpec
from pushjuju.portable.flags import dashed

if TYPE_CHECKING:
    from pushjuju.cli.syntax.command import Command

_DESCRIPTION = """\
pushjuju runs real Juju machine charms on every machine that SSH reaches. There is no controller machine and
there are no agents: the command itself pushes the work, and keeps the model in a directory.

Commands, flags, output and exit status are those of the juju client 3.6. `pushjuju help COMMAND` shows the
help of one command, `pushjuju help topics` other help.
"""
_ENVIRONMENT = (
    ("PUSHJUJU_DATA", "The data directory; JUJU_DATA counts too."),
    ("PUSHJUJU_WAIT", "0: record changes and return; a background process does the work."),
    ("JUJU_MODEL", "The model to operate in, as --model."),
    ("JUJU_CONTROLLER", "The controller to operate in, as --controller."),
    ("NO_COLOR", "No colours."),
)
_FILES = (
    ("~/.local/share/pushjuju/", "The data directory, unless PUSHJUJU_DATA names another."),
    ("./state/", "The data directory when it holds pushjuju.toml."),
)
_EXIT = (
    ("0", "Done."),
    ("1", "The command ran and failed; the text is on stderr behind the word ERROR."),
    ("2", "Wrong flags or arguments. plan and replay: there is a difference."),
    ("130", "Interrupted; what was asked for is recorded."),
)


def page(commands: Iterable[Command], global_flags: Iterable[FlagSpec], version: str) -> str:
    """Return the manual page in roff.

    Args:
        commands: All commands, in any order; the page sorts them.
        global_flags: The flags that every command has.
    """
    listed = sorted(commands, key=lambda command: command.name or "")
    parts = [
        f'.TH PUSHJUJU 1 "" "pushjuju {escaped(version)}" "User Commands"\n.ad l\n',
        ".SH NAME\npushjuju \\- real Juju machine charms on every machine that SSH reaches\n",
        ".SH SYNOPSIS\n.B pushjuju\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIargument\\fR ...]\n",
        f".SH DESCRIPTION\n{_paragraphs(_DESCRIPTION)}",
        f".SH OPTIONS\nThese may be used with any command.\n{''.join(map(_flag, global_flags))}",
        f".SH COMMANDS\n{''.join(map(_command, listed))}",
        f".SH ENVIRONMENT\n{_terms(_ENVIRONMENT)}",
        f".SH FILES\n{_terms(_FILES)}",
        f".SH EXIT STATUS\n{_terms(_EXIT)}",
        ".SH SEE ALSO\n.BR ssh (1),\n.BR bash (1)\n",
    ]
    return "".join(parts)


def escaped(text: str) -> str:
    """Return a text escaped for roff, which then prints the text unchanged."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti")
    plain = plain.replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _paragraphs(text: str) -> str:
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    return ".PP\n".join(f"{escaped(block)}\n" for block in blocks if block)


def _terms(terms: Iterable[tuple[str, str]]) -> str:
    return "".join(f".TP\n\\fB{escaped(name)}\\fR\n{escaped(text)}\n" for name, text in terms)


def _flag(spec: FlagSpec) -> str:
    if spec.hidden:
        return ""
    names = sorted(spec.names, key=lambda name: (len(name) > 1, name))
    shown = ", ".join(f"\\fB{escaped(dashed(name))}\\fR" for name in names)
    value = "" if spec.boolean else " \\fIvalue\\fR"
    return f".TP\n{shown}{value}\n{escaped(' '.join(spec.help.split())) or '.br'}\n"


def _command(command: Command) -> str:
    usage = " ".join(part for part in ("[options]", command.usage) if part)
    flags = sorted((spec for spec in command.specs if not spec.hidden), key=lambda spec: spec.name)
    aliases = f".PP\nAliases: {escaped(', '.join(command.aliases))}\n" if command.aliases else ""
    name = escaped(command.name or "")
    details = f".PP\n{_paragraphs(command.details)}" if command.details else ""
    return "".join(
        (
            f".SS {name}\n\\fBpushjuju {name}\\fR {escaped(usage)}\n",
            f".PP\n{escaped(command.summary)}\n",
            details,
            aliases,
            "".join(map(_flag, flags)),
            _examples(command.examples),
        )
    )


def _examples(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f".PP\n.nf\n{''.join(f'    {escaped(line)}' + chr(10) for line in lines)}.fi\n" if lines else ""
