"""The library: social groups and trait pairs whose slugs join people, models and norms."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords


class Domain(models.TextChoices):
    """Domains of Table 3, Cao et al. 2022."""

    GENDER = "gender", _("gender and sexuality")
    RACE = "race", _("race and ethnicity")
    RELIGION = "religion", _("religion")
    SOCIOECONOMIC = "socioeconomic", _("socio-economic status")
    AGE = "age", _("age")
    DISABILITY = "disability", _("disability status")
    POLITICS = "politics", _("politics")
    NATIONALITY = "nationality", _("nationality")


class Dimension(models.TextChoices):
    """Dimensions of the ABC model (Koch et al. 2016)."""

    AGENCY = "agency", _("Agency")
    BELIEFS = "beliefs", _("Beliefs")
    COMMUNION = "communion", _("Communion")


def validate_domains(value: object) -> None:
    """Raise unless ``value`` is a list of domain names without repetition."""
    if not isinstance(value, list) or any(item not in Domain.values for item in value):
        raise ValidationError(
            _("Expected a list of names out of: %(names)s."),
            params={"names": ", ".join(Domain.values)},
        )
    if len(set(value)) != len(value):
        raise ValidationError(_("A name comes twice, expected every domain once."))


class SocialGroup(models.Model):
    """A social group and its surface forms; a paired group names its components in order."""

    slug = models.SlugField(max_length=80, unique=True)
    singular = models.CharField(max_length=120, help_text=_("As in “That elderly person is …”."))
    plural = models.CharField(max_length=120, help_text=_("As in “All elderly people are …”."))
    plural_capitalised = models.CharField(
        max_length=120, help_text=_("As in “Elderly people should be …”.")
    )
    domains = models.JSONField(
        default=list, blank=True, validators=[validate_domains], help_text=_("For example [“age”].")
    )
    modifier = models.CharField(
        max_length=80,
        blank=True,
        help_text=_(
            "As it stands before another group, such as teenage in “teenage Asian person”; empty "
            "if it cannot."
        ),
    )
    components: models.ManyToManyField[SocialGroup, GroupComponent] = models.ManyToManyField(
        "self", through="GroupComponent", symmetrical=False, related_name="paired_groups"
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(singular="")
                & ~models.Q(plural="")
                & ~models.Q(plural_capitalised=""),
                name="group_has_all_surface_forms",
            )
        ]

    def __str__(self) -> str:
        return self.plural


class GroupComponent(models.Model):
    """One component of a paired group, in the order in which the pair names it."""

    group = models.ForeignKey(SocialGroup, on_delete=models.CASCADE, related_name="component_links")
    component = models.ForeignKey(
        SocialGroup, on_delete=models.PROTECT, related_name="paired_links"
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["group", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["group", "position"], name="one_component_per_position"
            ),
            models.CheckConstraint(
                condition=~models.Q(group=models.F("component")), name="group_is_not_its_component"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group_id}[{self.position}] = {self.component_id}"


class GroupExclusion(models.Model):
    """Two groups that are never put together as a paired group, in either order."""

    first = models.ForeignKey(SocialGroup, on_delete=models.CASCADE, related_name="exclusions")
    second = models.ForeignKey(
        SocialGroup, on_delete=models.CASCADE, related_name="exclusions_as_second"
    )
    reason = models.CharField(max_length=120, help_text=_("For example: nobody is both."))
    history = HistoricalRecords()

    class Meta:
        ordering = ["first__slug", "second__slug"]
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="one_exclusion_per_pair"),
            models.CheckConstraint(
                condition=models.Q(first__lt=models.F("second")),
                name="exclusion_names_the_older_group_first",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._order()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        if self.first_id and self.first_id == self.second_id:
            raise ValidationError(_("A group is never paired with itself; choose two groups."))
        self._order()

    def _order(self) -> None:
        """Name the older group first, so that a pair has one row whichever way it was entered."""
        if self.first_id and self.second_id and self.first_id > self.second_id:
            self.first_id, self.second_id = self.second_id, self.first_id


class GroupSet(models.Model):
    """A named choice of groups, such as the 25 groups of a published human study."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=160)
    groups: models.ManyToManyField[SocialGroup, models.Model] = models.ManyToManyField(
        SocialGroup, related_name="sets"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title


class TraitPair(models.Model):
    """Two opposite adjectives; ``low`` is pole 0 of a rating, ``high`` is pole 100."""

    slug = models.SlugField(max_length=80, unique=True)
    low = models.CharField(max_length=60)
    high = models.CharField(max_length=60)
    low_synonyms = models.JSONField(default=list, blank=True)
    high_synonyms = models.JSONField(default=list, blank=True)
    dimension = models.CharField(max_length=20, choices=Dimension)
    position = models.PositiveSmallIntegerField(help_text=_("Order in tables and charts."))
    history = HistoricalRecords()

    class Meta:
        ordering = ["position", "slug"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(low=models.F("high")), name="poles_differ"),
            models.CheckConstraint(
                condition=models.Q(dimension__in=Dimension.values),
                name="trait_pair_dimension_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.low} – {self.high}"
