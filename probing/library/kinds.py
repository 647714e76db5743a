"""Every kind of library entries that is imported from files."""

from __future__ import annotations

from annotation.library.group_kind import GroupKind
from annotation.library.library_kind import LibraryKind
from annotation.library.trait_kind import TraitKind
from probing.library.template_kind import TemplateKind
from probing.library.word_list_kind import WordListKind

#: A further kind needs a line here, and a page in the admin.
KINDS: dict[str, LibraryKind] = {
    kind.name: kind for kind in (GroupKind(), TraitKind(), TemplateKind(), WordListKind())
}
