"""Settings whose class is chosen by their `kind`, such as those of sources and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import CoreSchema

from ssdpt.common.plugins import PluginRegistry
from ssdpt.config.settings import Settings
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence, said


class KindSettings(Settings):
    """A base with a `registry`. Validated against the base, settings become those of their kind.

    A plugin in the registry has a `settings_class`: a subclass of the base whose `kind` is a
    `Literal` with the plugin's name.
    """

    registry: ClassVar[PluginRegistry]  # set by a direct subclass

    kind: str = Field(description="which one it is")

    @classmethod
    def class_for(cls, kind: str) -> type[Self]:
        """The settings of one kind; SsdptError where there is none, or it cannot be used."""
        plugin = cls.registry.load(kind)
        settings_class = getattr(plugin, "settings_class", None)
        if not (isinstance(settings_class, type) and issubclass(settings_class, cls)):
            raise SsdptError(
                Sentence(
                    "settings.noSettingsClass",
                    noun=cls.registry.noun,
                    name=kind,
                    base=cls.__name__,
                )
            )
        if settings_class.model_fields["kind"].default != kind:
            raise SsdptError(Sentence("settings.otherKind", noun=cls.registry.noun, name=kind))
        return settings_class

    @classmethod
    def class_of(cls, content: Any) -> type[Self]:
        """The class that `content` is checked against; the base where that is not known."""
        kind = content.get("kind") if isinstance(content, Mapping) else None
        if not cls._is_base() or not isinstance(kind, str):
            return cls
        try:
            return cls.class_for(kind)
        except SsdptError:
            return cls

    @classmethod
    def _is_base(cls) -> bool:
        return "registry" in cls.__dict__

    @model_validator(mode="wrap")
    @classmethod
    def _choose_class(cls, content: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not cls._is_base() or not isinstance(content, Mapping):
            return handler(content)
        kind = content.get("kind")
        try:
            if kind is None:
                raise SsdptError(Sentence("settings.noKind", choices=cls.registry.names()))
            if not isinstance(kind, str):
                raise SsdptError(Sentence("settings.kindNotText", choices=cls.registry.names()))
            settings_class = cls.class_for(kind)
        except SsdptError as error:
            wrong_kind = PydanticCustomError("wrong_kind", "{reason}", {"reason": said(error)})
            details = InitErrorDetails(type=wrong_kind, loc=("kind",), input=kind)
            raise ValidationError.from_exception_data(cls.__name__, [details]) from error
        return settings_class.model_validate(content)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        if not cls._is_base():
            return super().__get_pydantic_json_schema__(core_schema, handler)
        # Other packages may add kinds: only `kind` itself is known to everybody.
        return {
            "type": "object",
            "title": cls.__name__,
            "description": cls.__doc__ or "",
            "properties": {"kind": {"type": "string", "examples": cls.registry.names()}},
            "required": ["kind"],
            "additionalProperties": True,
        }
