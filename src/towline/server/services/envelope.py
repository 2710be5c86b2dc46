"""What requests have in common, checked before anything else."""

from towline.api.common_pb2 import WorkflowExecution
from towline.core.refusal import not_found
from towline.core.validation import check_id
from towline.store.api import RunRow, Store


class Envelope:
    """Namespaces and the runs that requests name."""

    def __init__(self, store: Store, *, namespaces: tuple[str, ...]) -> None:
        self._store = store
        self._namespaces = frozenset(namespaces)

    def check_namespace(self, namespace: str) -> None:
        """Raises Refused: INVALID_ARGUMENT for none or a bad one, NOT_FOUND for one that this server has not."""
        check_id(namespace, "namespace")
        if namespace not in self._namespaces:
            raise not_found(
                f"namespace {namespace!r} is not known here, known are {', '.join(sorted(self._namespaces))}: "
                "check the spelling, or start the server with --namespace"
            )

    async def find_run(self, namespace: str, execution: WorkflowExecution) -> RunRow:
        """The run that a request names, or the newest one of its workflow id. Raises Refused."""
        self.check_namespace(namespace)
        check_id(execution.workflow_id, "workflow_id")
        if execution.run_id:
            check_id(execution.run_id, "run_id")
        row = await self._store.find_run(namespace, execution.workflow_id, execution.run_id)
        if row is None:
            run = f" run {execution.run_id}" if execution.run_id else ""
            raise not_found(
                f"workflow {execution.workflow_id!r}{run} is not in namespace {namespace!r}: "
                "check the id, or its retention is over"
            )
        return row
