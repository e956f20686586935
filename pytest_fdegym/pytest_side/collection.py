"""The collection hooks: which paths are looked at, and what becomes of a scenario.yaml."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.bundled import bundled_tasks
from pytest_fdegym.errors import FdeGymError, nearest
from pytest_fdegym.pytest_side.nodes import AdmissionItem, CaseItem, ScenarioFile
from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.pytest_side.refusal import refuse
from pytest_fdegym.pytest_side.session import SESSION
from pytest_fdegym.pytest_side.targets import (
    SCENARIO_FILE,
    Surroundings,
    Targets,
    TaskFolder,
    all_of,
    find_scenarios,
    is_scenario,
    named,
    selects,
)

OPTIONS_FIXTURE = "fde_agent_options"
NAMED_PATHS = "fdegym_named_paths"
"""Key of workerinput: whether the controller's command line named paths. A worker's always does."""


class Collecting:
    """Hooks of a session that grades an agent or admits scenarios.

    Without a path on the command line: the bundled tasks and the scenario folders under the rootdir, or those of --fde-tasks; none of the
    user's own tests. With paths: what pytest finds there, scenarios included.
    """

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        self._config = config
        self._plan = plan
        self._surroundings = Surroundings()
        self._targets = Targets(())

    @property
    def names_paths(self) -> bool:
        """Whether the user named paths on the command line."""
        workerinput: dict[str, Any] | None = getattr(self._config, "workerinput", None)
        if workerinput is not None:
            return bool(workerinput[NAMED_PATHS])
        return self._config.args_source is pytest.Config.ArgsSource.ARGS

    @property
    def shown_folders(self) -> list[Path]:
        """Where tasks are taken from, for the header."""
        if self.names_paths:
            return []
        return list(self._plan.tasks) or [bundled_tasks()]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[NAMED_PATHS] = self.names_paths

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        # As late as here, because pytest-xdist sends the arguments to its workers, which find their rootdir by them.
        try:
            self._targets = self._find_targets()
        except FdeGymError as error:
            raise pytest.UsageError(str(error)) from None
        self._config.args[:] = self._targets.arguments
        if not self.names_paths or self._targets.selected:
            self._show_conftests_of_the_invocation_directory()

    def _find_targets(self) -> Targets:
        config, plan = self._config, self._plan
        norecurse = config.getini("norecursedirs")
        if self.names_paths:
            start = config.invocation_params.dir
            if all((start / argument.partition("::")[0]).exists() for argument in config.args):
                return Targets(tuple(config.args))
            return named(config.args, start, [TaskFolder.of(folder, norecurse) for folder in plan.tasks or (bundled_tasks(),)])
        if plan.tasks:
            folders = [TaskFolder.of(folder, norecurse) for folder in plan.tasks]
            for folder, asked in zip(folders, plan.tasks, strict=True):
                if not folder.scenarios:
                    raise pytest.UsageError(f"--fde-tasks: there is no scenario's folder (one with a {SCENARIO_FILE}) in {asked}")
            return all_of(folders, (), config.rootpath)
        return all_of([TaskFolder.of(bundled_tasks())], find_scenarios(config.rootpath, norecurse), config.rootpath)

    def _show_conftests_of_the_invocation_directory(self) -> None:
        """Make fixtures of a conftest.py in the invocation directory visible everywhere, as those in the rootdir's are.

        pytest shows them to the tests below that directory only, and the bundled tasks are elsewhere.
        """
        config = self._config
        start, manager = config.invocation_params.dir, config.pluginmanager
        if config.rootpath not in start.parents:
            return
        deeper = [*reversed([folder for folder in start.parents if config.rootpath in folder.parents]), start]
        plugins = {getattr(plugin, "__file__", None): plugin for plugin in manager.get_plugins()}
        for number, folder in enumerate(deeper):
            conftest = plugins.get(str(folder / "conftest.py"))
            if conftest is None:
                continue
            proxy = types.ModuleType(f"fixtures of {conftest.__file__}")
            fixtures = {name: value for name, value in vars(conftest).items() if not name.startswith(("__", "pytest_"))}
            vars(proxy).update(fixtures)
            # Up to pytest 9.0 fixtures of the rootdir's conftest.py win over those of plugins; a conftest.py is told by its name.
            plain = hasattr(pytest, "register_fixture")
            name = f"fdegym-fixtures-{number}" if plain else str(config.rootpath / f"fdegym-fixtures-{number}-conftest.py")
            manager.register(proxy, name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if self._targets.excludes(collection_path) or self._surroundings.are_data(collection_path):
            return True
        return None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.name != SCENARIO_FILE:
            return None
        if is_scenario(file_path.parent) or parent.session.isinitpath(file_path) or parent.session.isinitpath(file_path.parent):
            return ScenarioFile.from_parent(parent, path=file_path)
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Keep ``--lf`` from passing by tasks outside of the rootdir: it looks for their ids' paths inside."""
        if not isinstance(collector, ScenarioFile) or self._config.rootpath in collector.path.parents:
            return None
        manager = self._config.pluginmanager
        passes_by = manager.get_plugin("lfplugin-collskip")
        if passes_by is None:
            return None
        others = manager.subset_hook_caller("pytest_make_collect_report", remove_plugins=[self, passes_by])
        report: pytest.CollectReport = others(collector=collector)
        return report

    @pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
    def pytest_collection_modifyitems_options(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """--fde-agent-opt with an agent that is a fixture: it has to request them, or a record would claim what had no effect."""
        agent = config.stash[SESSION].agent
        if agent is None or agent.fixture is None or not self._plan.agent_options:
            return
        if any(isinstance(item, CaseItem) and OPTIONS_FIXTURE not in item.fixturenames for item in items):
            refuse(
                config,
                items,
                f"--fde-agent-opt: the fixture {agent.fixture} does not use them; let it request the fixture {OPTIONS_FIXTURE}.",
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Narrow tasks outside of the rootdir to the ids that were named: pytest was given their folder."""
        selected = self._targets.selected
        if not selected:
            return
        ours = [item for item in items if isinstance(item, CaseItem | AdmissionItem) and item.path.parent in self._targets.scenarios]
        for each in selected:
            if not any(selects((each,), item.nodeid) for item in ours):
                refuse(config, items, f"not found: {each}.{nearest(each, [item.nodeid for item in ours])}")
                return
        dropped = {item for item in ours if not selects(selected, item.nodeid)}
        if dropped:
            config.hook.pytest_deselected(items=list(dropped))
            items[:] = [item for item in items if item not in dropped]
