"""What the room predicted: one row a browser and question, in the file that all processes share."""

from app.jobs import registry


def vote(lesson: str, question: int, reader: str, option: int | None) -> None:
    """Count this browser's prediction, or take it back; a second one replaces the first."""
    with registry.transaction() as database:
        if option is None:
            database.execute(
                "DELETE FROM votes WHERE lesson = ? AND question = ? AND reader = ?", (lesson, question, reader)
            )
        else:
            database.execute("INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?)", (lesson, question, reader, option))


def counts(lesson: str, question: int, options: int) -> list[int]:
    """How many browsers predicted each option."""
    rows = registry.read(
        "SELECT option, count(*) AS readers FROM votes WHERE lesson = ? AND question = ? GROUP BY option", lesson, question
    )
    by_option = {row["option"]: row["readers"] for row in rows}
    return [by_option.get(option, 0) for option in range(options)]


def votes_of(lesson: str, reader: str, questions: int) -> list[int | None]:
    """What one browser predicted in each question of a lesson; None where it did not."""
    rows = registry.read("SELECT question, option FROM votes WHERE lesson = ? AND reader = ?", lesson, reader)
    by_question = {row["question"]: row["option"] for row in rows}
    return [by_question.get(question) for question in range(questions)]
