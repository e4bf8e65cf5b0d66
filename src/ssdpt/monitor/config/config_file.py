"""Reads monitor.yaml, also one of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdpt.config.settings import Settings
from ssdpt.config.validation import checked, read_yaml
from ssdpt.errors import SsdptError
from ssdpt.monitor.config.monitor_config import MonitorConfig
from ssdpt.monitor.config_upgrade import upgrade_content
from ssdpt.sentences import Sentence


def read_monitor_config(path: Path) -> MonitorConfig:
    """Read a configuration file; relative paths in it count from its folder."""
    return _with_absolute_paths(read_current_form(path)[0], path.parent)


def read_current_form(path: Path) -> tuple[MonitorConfig, dict[str, Any]]:
    """A configuration file as it stands, and its content with the settings of this release."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise SsdptError(Sentence("config.noFile", path=path)) from error
    except OSError as error:
        raise SsdptError(Sentence("config.unreadable", path=path, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise SsdptError(Sentence("config.notText", path=path)) from error
    content = read_yaml(text, str(path)) or {}
    upgrades = upgrade_content(content)
    config = checked(MonitorConfig, content, str(path))
    config._upgrades = upgrades
    return config, content


def _with_absolute_paths(config: MonitorConfig, folder: Path) -> MonitorConfig:
    def absolute(value: object) -> object:
        if isinstance(value, Path) and not value.is_absolute():
            return folder / value
        if isinstance(value, Settings):
            return value.model_copy(
                update={name: absolute(getattr(value, name)) for name in type(value).model_fields}
            )
        if isinstance(value, tuple):
            return tuple(absolute(item) for item in value)
        return value

    result = absolute(config)
    assert isinstance(result, MonitorConfig)
    return result
