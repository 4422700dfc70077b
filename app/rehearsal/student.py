"""One simulated student: a websocket session that asks for pages and types sentences as a browser does."""

import asyncio
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 120  # seconds for one answer; then it counts as an error


@dataclass(frozen=True)
class Visit:
    """One action and what came of it."""

    page: str
    typed: bool  # a new sentence, or a page asked for again
    seconds: float
    messages: int
    size: int  # bytes received
    error: str = ""


@dataclass
class Student:
    """A browser's session, from `join` to `leave`."""

    address: str  # http://host:port
    connection: ClientConnection | None = None
    pages: dict[str, str] = field(default_factory=dict)  # address of a page -> Streamlit's name for it
    boxes: dict[str, str] = field(default_factory=dict)  # label of a text box -> its id
    cached: set[str] = field(default_factory=set)  # large messages that a browser keeps

    async def join(self) -> None:
        self.connection = await connect(
            self.address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            compression=None,
            origin=self.address,  # type: ignore[arg-type]
            open_timeout=PATIENCE,
        )

    async def leave(self) -> None:
        if self.connection is not None:
            await self.connection.close()

    async def visit(self, page: str, inputs: dict[str, str]) -> Visit:
        """Open a page with these inputs in its address."""
        request = BackMsg()
        request.rerun_script.query_string = urlencode(inputs)
        if page in self.pages:
            request.rerun_script.page_script_hash = self.pages.get(page, "")
        else:
            request.rerun_script.page_name = page
        return await self._ask(page, request, typed=False)

    async def type(self, page: str, label: str, text: str) -> Visit:
        """Type a text into a box of the page that is open."""
        request = BackMsg()
        request.rerun_script.page_script_hash = self.pages.get(page, "")
        state = request.rerun_script.widget_states.widgets.add()
        state.id, state.string_value = self.boxes[label], text
        return await self._ask(page, request, typed=True)

    async def _ask(self, page: str, request: BackMsg, typed: bool) -> Visit:
        assert self.connection is not None
        request.rerun_script.cached_message_hashes.extend(self.cached)
        request.rerun_script.context_info.url = f"{self.address}/{page}"
        started, messages, size, error = time.perf_counter(), 0, 0, ""
        await self.connection.send(request.SerializeToString())
        while True:
            try:
                data = await asyncio.wait_for(self.connection.recv(decode=False), PATIENCE)
            except TimeoutError:
                return Visit(page, typed, time.perf_counter() - started, messages, size, "no answer")
            messages, size = messages + 1, size + len(data)
            message = ForwardMsg.FromString(data)
            if message.metadata.cacheable and message.hash:
                self.cached.add(message.hash)
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self.pages = {page.url_pathname or "start": page.page_script_hash for page in message.navigation.app_pages}
            elif kind == "delta":
                error = error or self._read(message)
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                return Visit(page, typed, time.perf_counter() - started, messages, size, error)

    def _read(self, message: ForwardMsg) -> str:
        """Note the boxes of a page; what it says is wrong, if anything."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "text_area":
            self.boxes[element.text_area.label] = element.text_area.id
        elif kind == "text_input":
            self.boxes[element.text_input.label] = element.text_input.id
        elif kind == "exception":
            return f"{element.exception.type}: {element.exception.message}"
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            return element.alert.body
        return ""
