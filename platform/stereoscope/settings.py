"""Settings, all from the environment. The table of variables is in docs/deployment.md."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import tempfile
from pathlib import Path

from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _
from environs import Env, EnvError, validate

from stereoscope.version import find_code_version

BASE_DIR = Path(__file__).resolve().parent.parent.parent

env = Env()
env.read_env(str(BASE_DIR / ".env"), recurse=False)

DEBUG: bool = env.bool("DEBUG", False)
VAR_DIR: Path = Path(env.str("VAR_DIR", str(BASE_DIR / "var"))).resolve()
VAR_DIR.mkdir(parents=True, exist_ok=True)
CODE_VERSION: str = find_code_version(BASE_DIR, env.str("STEREOSCOPE_REVISION", ""))


def _read_or_create_secret(path: Path) -> str:
    """Return the key kept beside the embedded database, creating it once, readable by its owner."""
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_urlsafe(64))
        # Linking fails if another process was first, and nobody ever reads half a key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        os.unlink(draft)
    return path.read_text().strip()


@env.parser_for("hosts")
def _parse_hosts(text: str) -> dict[str, str]:
    """Return the host that each variable's key is sent to."""
    pairs = [[part.strip() for part in one.split("=", 1)] for one in text.split(",") if one.strip()]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise EnvError(f"“{text}”, expected pairs such as LAB_KEY=api.example.org, with commas")
    return dict(pairs)


# What the database, backups and all else under VAR_DIR hold is for the platform's account alone.
os.umask(0o077)
with contextlib.suppress(PermissionError):
    VAR_DIR.chmod(0o700)
# Ids of people are encrypted with the first key; the others are still read while keys are changed.
IDENTITY_KEYS: list[str] = env.list("IDENTITY_KEYS", []) or [
    _read_or_create_secret(VAR_DIR / "identity-key")
]
SECRET_KEY: str = env.str("SECRET_KEY", "") or _read_or_create_secret(VAR_DIR / "secret-key")
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
# Behind a proxy that ends TLS: cookies only over https, redirects, HSTS.
HTTPS: bool = env.bool("HTTPS", False)
# How many proxies stand before the web server and write X-Forwarded-For.
TRUSTED_PROXIES: int = env.int("TRUSTED_PROXIES", 1 if HTTPS else 0)
# People who start one study from one address in an hour: a class in a lab is one. 0 for any number.
ARRIVALS_PER_HOUR: int = env.int("ARRIVALS_PER_HOUR", 300)
# What one address may ask of reports that are shared by a link, in a minute. 0 for any number.
SHARED_REPORT_REQUESTS_PER_MINUTE: int = env.int("SHARED_REPORT_REQUESTS_PER_MINUTE", 120)
PORT: int = env.int("PORT", 8000)
SITE_URL: str = (env.str("SITE_URL", "") or f"http://127.0.0.1:{PORT}").rstrip("/")

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.simple_history",
    "stereoscope.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "simple_history",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "annotation",
    "probing",
    "evaluation",
    "stereoscope.apps.StereoscopeConfig",
]

MIDDLEWARE = [
    "stereoscope.middleware.Health",
    "stereoscope.request_ids.RequestIds",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "stereoscope.middleware.Language",
    "stereoscope.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "stereoscope.middleware.WholeAddresses",
    "stereoscope.middleware.LimitedBodies",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "stereoscope.idle.IdleSignOut",
    "stereoscope.second_factor.middleware.SecondFactor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "stereoscope.middleware.PersonalPages",
    "simple_history.middleware.HistoryRequestMiddleware",
    "stereoscope.middleware.LogInLimit",
    "stereoscope.audit.AuditLog",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "stereoscope.urls"
WSGI_APPLICATION = "stereoscope.wsgi.application"
ASGI_APPLICATION = "stereoscope.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database: SQLite (WAL, immediate transactions) unless DATABASE_URL says otherwise ---------

DATABASES = {
    "default": env.dj_db_url(
        "DATABASE_URL", f"sqlite:///{VAR_DIR / 'stereoscope.sqlite3'}", conn_max_age=60
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["ENGINE"] = "stereoscope.queued_sqlite3"
    DATABASES["default"]["OPTIONS"] = {
        # A writer takes its lock at BEGIN, so that no transaction fails half way by upgrading.
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        # What is deleted is overwritten: people are promised that it is gone.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA cache_size=-65536; PRAGMA secure_delete=ON;"
        ),
    }
    for _suffix in ("", "-wal", "-shm"):  # also one that was made before
        with contextlib.suppress(OSError):
            Path(f"{DATABASES['default']['NAME']}{_suffix}").chmod(0o600)
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        # A machine that is gone answers nothing at all: whoever waits is told so after a while.
        "connect_timeout": 10,
        # What a connection has asked five times, the server need not plan again.
        "server_side_binding": True,
        "prepare_threshold": 5,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery: the filesystem broker under VAR_DIR unless CELERY_BROKER_URL says otherwise --------

CELERY_BROKER_URL: str = env.str("CELERY_BROKER_URL", "filesystem://localhost//")
if CELERY_BROKER_URL.startswith("filesystem"):
    _broker_dir = VAR_DIR / "broker"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_broker_dir / "messages"),
        "data_folder_out": str(_broker_dir / "messages"),
        "control_folder": str(_broker_dir / "control"),
        # The default of one second would handle one message a second.
        "polling_interval": 0.1,
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_TASK_DEFAULT_QUEUE = "default"
# Where a message was lost, the sweep finds the work: seconds between two looks.
SWEEP_SECONDS: float = env.float("SWEEP_SECONDS", 10.0)
SHARD_LEASE_SECONDS: float = env.float("SHARD_LEASE_SECONDS", 30.0)

# --- Language models ----------------------------------------------------------------------------

MODEL_DEVICE: str = env.str("MODEL_DEVICE", "auto")
MODEL_DTYPE: str = env.str("MODEL_DTYPE", "float32")
MODEL_THREADS: int | None = env.int("MODEL_THREADS", None)
# A researcher who registers a model chooses what workers read and whom they ask. On an installation
# that only its own machine can reach, that is up to the person before it.
IS_OWN_MACHINE = set(ALLOWED_HOSTS) <= {"localhost", "127.0.0.1", "[::1]"} and not HTTPS
MODEL_ROOTS: list[str] = env.list("MODEL_ROOTS", ["/"] if IS_OWN_MACHINE else [str(VAR_DIR)])
#: Where files lie that the authors of the four papers released, for `manage.py reproduce`.
RELEASED_FILES: Path | None = env.path("RELEASED_FILES", None)
MODEL_SERVER_HOSTS: list[str] = env.list(
    "MODEL_SERVER_HOSTS", ["localhost", "127.0.0.1", "::1"] if IS_OWN_MACHINE else []
)
# Variable → the host that its key is sent to.
MODEL_KEY_HOSTS: dict[str, str] = env.hosts("MODEL_KEY_HOSTS", "MODEL_KEY_OPENAI=api.openai.com")
# Keys travel by https alone; with this also by http to servers on this machine.
PLAIN_LOOPBACK_KEYS: bool = env.bool("PLAIN_LOOPBACK_KEYS", False)
# How each worker treats a server of chat models, and what a run may spend there in all.
CHAT_REQUESTS_PER_MINUTE: float = env.float("CHAT_REQUESTS_PER_MINUTE", 60.0)
CHAT_CONCURRENCY: int = env.int("CHAT_CONCURRENCY", 4)
CHAT_TIMEOUT_SECONDS: float = env.float("CHAT_TIMEOUT_SECONDS", 120.0)
CHAT_ATTEMPTS: int = env.int("CHAT_ATTEMPTS", 6)
#: Answers of servers are kept by what was asked, and given again to the same request.
CHAT_KEEP_ANSWERS: bool = env.bool("CHAT_KEEP_ANSWERS", True)
CHAT_ANSWERS_ROOT: Path = VAR_DIR / "served-answers"
CHAT_TOKENS_PER_RUN: int = env.int("CHAT_TOKENS_PER_RUN", 2_000_000)
# The same in money, such as “5 USD”; it holds for models with a price in this currency.
CHAT_MONEY_PER_RUN: str = env.str(
    "CHAT_MONEY_PER_RUN",
    "",
    validate=validate.Regexp(
        r"^(\d+(\.\d+)? [A-Z]{3})?$", error="Expected an amount and a currency, such as 5 USD."
    ),
)

# --- Panels: tokens and secrets stand in variables that each study names ------------------------

PROLIFIC_API_URL: str = env.str("PROLIFIC_API_URL", "https://api.prolific.com/api/v1")
PROLIFIC_JWKS_URL: str = env.str(
    "PROLIFIC_JWKS_URL", "https://api.prolific.com/.well-known/study/jwks.json"
)
PANEL_KEY_HOSTS: dict[str, str] = env.hosts("PANEL_KEY_HOSTS", "PROLIFIC_TOKEN=api.prolific.com")
PANEL_TIMEOUT_SECONDS: float = env.float("PANEL_TIMEOUT_SECONDS", 30.0)
PANEL_ATTEMPTS: int = env.int("PANEL_ATTEMPTS", 5)
PANEL_PAUSE_SECONDS: float = env.float("PANEL_PAUSE_SECONDS", 2.0)
# A worker that is not heard of for this long was killed; what it asked for is unclear then.
PANEL_LEASE_SECONDS: float = env.float("PANEL_LEASE_SECONDS", 300.0)
# How long a panel may take to do what it was asked for before a person is asked to look.
PANEL_SETTLE_SECONDS: float = env.float("PANEL_SETTLE_SECONDS", 3600.0)
PANEL_EVENT_TOLERANCE_SECONDS: float = env.float("PANEL_EVENT_TOLERANCE_SECONDS", 300.0)

# --- Log-in -------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = "annotation.common.limits.lockout_time"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_USERNAME_CALLABLE = "annotation.common.limits.tried_account"
AXES_CLIENT_IP_CALLABLE = "annotation.common.limits.client_address"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
# The first lock-out of an account from one client; each further one in a day takes twice as long.
LOCKOUT_SECONDS: int = env.int("LOCKOUT_SECONDS", 60)
LONGEST_LOCKOUT_SECONDS: int = env.int("LONGEST_LOCKOUT_SECONDS", 3600)
# Log-ins of one client in a minute, whatever the accounts; 0 for any number.
LOGINS_PER_MINUTE: int = env.int("LOGINS_PER_MINUTE", 30)
# Wrong tokens of the API that one client may send in a minute; 0 for any number.
WRONG_TOKENS_PER_MINUTE: int = env.int("WRONG_TOKENS_PER_MINUTE", 30)
AXES_LOCKOUT_CALLABLE = "annotation.annotators.views.tell_locked_out"
# Whether every researcher signs in with a second factor; otherwise each may turn one on.
SECOND_FACTOR_REQUIRED: bool = env.bool("SECOND_FACTOR_REQUIRED", False)
OTP_TOTP_ISSUER = "Stereoscope"
# A provider of accounts (OpenID Connect): its issuer, and what it knows this site by.
OIDC_ISSUER: str = env.str("OIDC_ISSUER", "")
OIDC_CLIENT_ID: str = env.str("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET: str = env.str("OIDC_CLIENT_SECRET", "")
OIDC_NAME: str = env.str("OIDC_NAME", "your institution")
# Minutes without a page after which an account is signed out; 0 for never.
SESSION_IDLE_MINUTES: int = env.int("SESSION_IDLE_MINUTES", 120)
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

# --- Mail: invitations of annotators. Without a server, researchers hand links over -------------

EMAIL_HOST: str = env.str("EMAIL_HOST", "")
EMAIL_PORT: int = env.int("EMAIL_PORT", 587)
EMAIL_HOST_USER: str = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD: str = env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS: bool = env.bool("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 15
# Whom people ask who cannot log in, or meet an error, outside of any study.
CONTACT_EMAIL: str = env.str("CONTACT_EMAIL", "")
DEFAULT_FROM_EMAIL: str = env.str("EMAIL_FROM", "") or "stereoscope@localhost"

# --- Security -----------------------------------------------------------------------------------

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Browsers' own lists keep a domain for months: nobody gets there by accident.
    SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W021"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "media-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'", "https://app.prolific.com"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- Language and time --------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("es", _("Spanish"))]
LOCALE_PATHS = [BASE_DIR / "platform" / "locale"]
FORMAT_MODULE_PATH = "stereoscope.formats"
TIME_ZONE = "UTC"
USE_TZ = True

# --- Static files -------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT: Path = Path(env.str("STATIC_ROOT", str(VAR_DIR / "static"))).resolve()
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # WhiteNoise warns about a folder that is not there
# The documentation as a site, served at /docs/: built by `make run`, the image or `make docs`.
DOCS_ROOT: Path = Path(env.str("DOCS_ROOT", str(VAR_DIR / "docs"))).resolve()
STATICFILES_DIRS = [BASE_DIR / "static"]
# With a manifest, files are collected once, named by their content and cached for good by browsers;
# without one they are served from where they lie, which suits tests and development.
STATIC_MANIFEST: bool = env.bool("STATIC_MANIFEST", False)
# Pressing them takes half a minute of computing: worth it on a line, not on this machine itself.
STATIC_COMPRESSION: bool = env.bool("STATIC_COMPRESSION", True)
_STATIC_STORAGE = "django.contrib.staticfiles.storage.StaticFilesStorage"
if STATIC_MANIFEST and STATIC_COMPRESSION:
    _STATIC_STORAGE = "whitenoise.storage.CompressedManifestStaticFilesStorage"
elif STATIC_MANIFEST:
    _STATIC_STORAGE = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}
WHITENOISE_USE_FINDERS = not STATIC_MANIFEST
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

# --- API ----------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "stereoscope.api_authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.api.permissions.Staff"],
    "DEFAULT_PARSER_CLASSES": ["stereoscope.api.parsing.StoredJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_FILTER_BACKENDS": ["stereoscope.api.filters.StrictFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "stereoscope.api.pagination.BoundedPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "stereoscope.api.throttles.ClientThrottle",
        "stereoscope.api.throttles.AccountThrottle",
        "stereoscope.api.throttles.ChangeThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anon": env.str("API_RATE_ANONYMOUS", "60/min"),
        "user": env.str("API_RATE", "1200/min"),
        "change": env.str("API_RATE_CHANGES", "120/min"),
    },
    "EXCEPTION_HANDLER": "stereoscope.api.errors.handle_exception",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Stereoscope",
    "DESCRIPTION": (
        "Everything that a researcher does, over HTTP: read studies, quotas, ratings, models, "
        "runs, scores and reports; create, cancel and resume runs."
    ),
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["annotation.api.permissions.Staff"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "StudyKind": "annotation.models.StudyKind",
        "StudyStatus": "annotation.models.StudyStatus",
        "Origin": "annotation.models.Origin",
        "RunOrigin": "probing.models.RunOrigin",
        "ModelKind": "probing.models.ModelKind",
        "RunStatus": "probing.models.RunStatus",
        "RunEventKind": "probing.models.RunEventKind",
        "ReportStatus": "evaluation.models.ReportStatus",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "stereoscope.api.schema.add_problems",
    ],
}

# --- Admin theme --------------------------------------------------------------------------------

UNFOLD = {
    "SITE_TITLE": "Stereoscope",
    "SITE_HEADER": "Stereoscope",
    "SITE_URL": "/",
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("stereoscope/mark.svg"),
        }
    ],
    "SHOW_HISTORY": True,
    "DASHBOARD_CALLBACK": "stereoscope.overview.page.add_overview",
    "SHOW_BACK_BUTTON": False,
    # The tokens turn dark by themselves, following the system; the theme's own switch would not.
    "THEME": "light",
    "STYLES": [
        lambda request: static("stereoscope/admin.css"),
        lambda request: static("stereoscope/researcher.css"),
        lambda request: static("stereoscope/explain.css"),
    ],
    "SCRIPTS": [
        lambda request: static("stereoscope/admin.js"),
        lambda request: static("stereoscope/tabs.js"),
    ],
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": "stereoscope.navigation.build_navigation",
    },
}

# --- Logging: what happened, never who ----------------------------------------------------------

# line or json
LOG_FORMAT: str = env.str("LOG_FORMAT", "line", validate=validate.OneOf(["line", "json"]))
# A line for each answer, by the name of its page.
LOG_REQUESTS: bool = env.bool("LOG_REQUESTS", False)
# What a scraper of /metrics sends as a bearer token; without one there are no metrics.
METRICS_TOKEN: str = env.str("METRICS_TOKEN", "")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"tokens": {"()": "stereoscope.logs.TokenFilter"}},
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "stereoscope.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["tokens"],
        }
    },
    "root": {"handlers": ["console"], "level": env.log_level("LOG_LEVEL", logging.WARNING)},
    "loggers": {
        **{
            name: {"level": env.log_level("LOG_LEVEL", logging.INFO)}
            for name in ("annotation", "probing", "evaluation", "stereoscope")
        },
        # Addresses of requests to panels hold ids of people.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        # A page that does not exist or a form that was refused is everyday life.
        "django.request": {"level": "ERROR"},
    },
}
