"""The client's command line, run in this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from anomalyarmor.cli import app

from harness import expect


def names() -> list[str]:
    """Every command, as `$ alerts rules list`."""

    def walk(command: Any, path: str) -> list[str]:
        below = getattr(command, "commands", None)
        if below is None:
            return [path]
        return [name for key, each in below.items() for name in walk(each, f"{path} {key}")]

    return walk(typer.main.get_command(app), "$")


class CommandFailed(Exception):
    """A command ended with an unexpected exit code."""


class Shell:
    """Called with the words of a command line, runs it and returns its output."""

    def __init__(self, w: Any) -> None:
        self.home = Path.home()
        self.url = f"{w.url}/api/v1"
        self.key = w.key
        # Tables are cut to the width of the terminal.
        os.environ["COLUMNS"] = "400"

    def __call__(
        self,
        *words: str,
        code: int = 0,
        input: str | None = None,
        url: str | None = None,
        signed_in: bool = True,
    ) -> str:
        """
        @param code the exit code that is expected
        @raises CommandFailed for another exit code; an exception of the command is raised as it is
        """
        environment: dict[str, str | None] = {
            "ARMOR_API_URL": (url or self.url) if signed_in else None,
            "ARMOR_API_KEY": self.key if signed_in else None,
        }
        result = CliRunner().invoke(app, list(words), input=input, env=environment)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code != code:
            last = (result.output.strip().splitlines() or [""])[-1]
            raise CommandFailed(f"exit {result.exit_code}: {last}")
        return result.output

    def file(self, name: str, text: str) -> str:
        """Writes a file below the home. @returns its path"""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)


def says(*texts: str, never: tuple[str, ...] = ()):
    """A check that an output contains all `texts` and none of `never`."""

    def check(output: str) -> None:
        for text in texts:
            expect(text in output, f"the output lacks {text!r}")
        for text in never:
            expect(text not in output, f"the output contains {text!r}")

    return check


def line(output: str, containing: str) -> str:
    """The first line that contains a text, such as a row of a table. @raises Wrong"""
    for each in output.splitlines():
        if containing in each:
            return each
    expect(False, f"no line with {containing!r}")
    return ""
