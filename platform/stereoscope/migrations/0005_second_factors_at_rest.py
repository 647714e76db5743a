"""Secrets of authenticators are encrypted, recovery codes kept as digests."""

from binascii import unhexlify

from django.db import migrations

from stereoscope.second_factor.models import digest_code, seal_secret

HEX = frozenset("0123456789abcdef")


def seal(apps, schema_editor):
    """Seal what is stored as the library does; running it twice changes nothing more."""
    devices = apps.get_model("otp_totp", "TOTPDevice").objects
    for pk, key in devices.values_list("pk", "key"):
        if set(key) <= HEX:
            devices.filter(pk=pk).update(key=seal_secret(unhexlify(key)))
    tokens = apps.get_model("otp_static", "StaticToken").objects
    for pk, device, code in tokens.values_list("pk", "device_id", "token"):
        if len(code) < 16:  # a digest has sixteen characters, a code has eight
            tokens.filter(pk=pk).update(token=digest_code(code, device))


class Migration(migrations.Migration):
    dependencies = [
        ("stereoscope", "0004_milestones"),
        ("otp_static", "0003_add_timestamps"),
        ("otp_totp", "0003_add_timestamps"),
    ]
    operations = [
        migrations.CreateModel(
            name="Authenticator",
            fields=[],
            options={
                "verbose_name": "authenticator",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_totp.totpdevice",),
        ),
        migrations.CreateModel(
            name="RecoveryCodes",
            fields=[],
            options={
                "verbose_name_plural": "recovery codes",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_static.staticdevice",),
        ),
        migrations.RunPython(seal, migrations.RunPython.noop),
    ]
