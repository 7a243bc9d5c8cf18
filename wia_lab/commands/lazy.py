"""A group of commands that imports a command only when it is called, or for the help page."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from wia_lab.commands.options import unknown


class LazyGroup(click.Group):
    """Commands by name.

    Parameters
    ----------
    homes : mapping
        Each command's name and where it stands, as "package.module:attribute", in the order of the
        help page.
    """

    def __init__(self, *args: Any, homes: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.homes = homes

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return all names, in the order in which they are listed."""
        return list(self.homes)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None when there is none of this name."""
        if cmd_name not in self.homes:
            return None
        module, attribute = self.homes[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is answered with its nearest neighbours."""
        if args and args[0] not in self.homes and not args[0].startswith("-"):
            listing = f"see {ctx.command_path} --help"
            raise click.UsageError(unknown("command", args[0], self.homes, listing))
        return super().resolve_command(ctx, args)
