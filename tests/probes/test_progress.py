"""The time left follows from the speed so far, and from nothing that happened before the clock began."""

from probes.progress import StageClock


class Seconds:
    """A time that passes only when told to."""

    def __init__(self):
        self.value = 100.0

    def __call__(self) -> float:
        return self.value


def test_half_of_the_work_in_ten_seconds_leaves_ten():
    seconds = Seconds()
    clock = StageClock(seconds)
    assert clock.at(0.0, "Reading") == {"fraction": 0.0, "stage": "Reading", "eta": None}
    seconds.value += 10
    assert clock.at(0.5, "Learning") == {"fraction": 0.5, "stage": "Learning", "eta": 10.0}


def test_what_an_earlier_run_did_is_not_counted_as_speed():
    seconds = Seconds()
    clock = StageClock(seconds)
    clock.at(0.8, "Learning")
    seconds.value += 30
    assert round(clock.at(0.9, "Learning")["eta"] or 0, 6) == 30


def test_loading_does_not_slow_the_estimate_down():
    seconds = Seconds()
    clock = StageClock(seconds)
    clock.at(0.0, "Loading")
    seconds.value += 1000
    clock.at(0.0, "Learning")
    seconds.value += 1
    assert clock.at(0.5, "Learning")["eta"] == 1.0


def test_no_time_is_promised_before_there_is_a_speed_and_none_is_left_at_the_end():
    seconds = Seconds()
    clock = StageClock(seconds)
    clock.at(0.0, "Learning")
    seconds.value += 5
    assert clock.at(0.02, "Learning")["eta"] is None
    assert clock.at(1.0, "Done")["eta"] == 0.0
