"""What can go wrong at the door, said in one sentence a student understands."""


class Problem(Exception):
    """Something the user can mend; `str(problem)` is the sentence to show."""


class InputProblem(Problem):
    """The text, or what was asked of it, cannot be used."""


class CheckpointProblem(Problem):
    """A folder or file is not a checkpoint we can load."""


class MissingHead(Problem):
    """The question needs a head that this checkpoint does not have."""
