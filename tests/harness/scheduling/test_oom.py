from pathlib import Path

from harness.scheduling.oom import oom_kills


def written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_kills_are_those_of_the_own_control_group_where_it_counts_them(tmp_path: Path) -> None:
    written(tmp_path / "proc/vmstat", "nr_free_pages 5\noom_kill 7\n")
    written(tmp_path / "proc/self/cgroup", "0::/user.slice/session-1.scope\n")
    group = tmp_path / "groups/user.slice/session-1.scope/memory.events"
    written(group, "low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert oom_kills(tmp_path / "proc", tmp_path / "groups") == 2


def test_without_such_a_group_they_are_those_of_the_machine(tmp_path: Path) -> None:
    written(tmp_path / "proc/vmstat", "nr_free_pages 5\noom_kill 7\n")
    written(tmp_path / "proc/self/cgroup", "4:memory:/some/group\n0::/\n")
    assert oom_kills(tmp_path / "proc", tmp_path / "groups") == 7


def test_where_the_system_does_not_say_there_are_none(tmp_path: Path) -> None:
    assert oom_kills(tmp_path, tmp_path) == 0
