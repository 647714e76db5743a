"""Errors of language models; each message names the value and the remedy."""


class LanguageModelError(Exception):
    """Anything that keeps a language model from being used; the message is fit for a page."""


class ModelNotFoundError(LanguageModelError):
    """No model at the given folder or hub id."""


class ModelFilesError(LanguageModelError):
    """A model is there, but its files are damaged or incomplete."""


class WrongModelKindError(LanguageModelError):
    """The model exists but is not of the kind that was asked for."""


class DeviceError(LanguageModelError):
    """The device or number format asked for does not exist on this machine."""


class TokenizerError(LanguageModelError):
    """The tokenizer is missing, damaged, or lacks what a masked slot needs."""


class UnknownWordError(TokenizerError):
    """A word that the tokenizer cannot encode without loss."""


class WordEdgeError(UnknownWordError):
    """A word whose tokens are not its own in its sentence."""


class MaskCountError(TokenizerError):
    """A sentence holds another number of mask tokens than its slots account for."""


class ContextTooLongError(LanguageModelError):
    """A sentence is longer than the model can read."""


class GenerationSettingsError(LanguageModelError):
    """Settings of writing that contradict each other, or that the model cannot follow."""


class ServerError(LanguageModelError):
    """A server of language models did not do what it was asked to."""


class ServerAwayError(ServerError):
    """No answer from the server, or none in time."""


class AccessDeniedError(ServerError):
    """The server wants a key, or another one."""


class AddressRefusedError(ServerError):
    """The server's address is not one that the platform may ask."""


class UnknownServedModelError(ServerError):
    """The server does not know the model."""


class RequestRefusedError(ServerError):
    """The server does not accept the request as it was made; `said` has its own words."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said or message


class EchoError(ServerError):
    """The server's echo does not fit the text that it was sent."""


class BatchPendingError(ServerError):
    """A server has not answered a batch yet; `seconds` is when to ask again."""

    def __init__(self, batch: str, seconds: float) -> None:
        super().__init__(f"The batch {batch} is not answered yet.")
        self.batch, self.seconds = batch, seconds


class SpendCapError(ServerError):
    """The run has used up the tokens that it may spend."""
