"""Every error that Photofinish raises on purpose.

PhotofinishError            one clear line: what is wrong, where, and what mends it
├── InputError       (2)    the user's manifest, suite, flag, URL or file is wrong
├── EnvironmentError_ (3)   this machine can't do it: missing tool, privilege, kernel feature, full disk
└── CheckFailed      (1)    a check that the user asked for failed (gate, --fail-if)
"""


class PhotofinishError(Exception):
    """An error with a mend: ``str(error)`` is one line for a person; ``exit_code`` is for scripts."""

    exit_code = 3


class InputError(PhotofinishError):
    """Bad input; the text names the place (file, key) and the mend."""

    exit_code = 2


class EnvironmentError_(PhotofinishError):  # noqa: N801, N818 - Python took the plain name
    """This machine is not able; the text says what to install, grant or free."""

    exit_code = 3


class CheckFailed(PhotofinishError):  # noqa: N818 - it is a verdict rather than a mishap
    """A check that the user asked for failed."""

    exit_code = 1
