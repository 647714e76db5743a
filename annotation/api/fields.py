"""Fields of the API that several rooms share."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class PublicIdField(serializers.SlugRelatedField[Any]):
    """A related object by its public id; a null character, which no database asks for, is none."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str) and "\0" in data:
            self.fail("does_not_exist", slug_name=self.slug_field, value=data.replace("\0", "␀"))
        return super().to_internal_value(data)
