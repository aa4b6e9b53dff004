import { RpcError } from "../jsonrpc";
import type { Ports, Selection } from "../ports";
import { json } from "../result";
import { cap, finalText, visibleName } from "../text";
import type { Tool, ToolCall } from "../tools";
import { text, ToolTable } from "../tools";
import { waitUntil } from "../waiting";
import { plainFailure, review } from "./reviews";
import type { Decision, GuestHost } from "./reviews";

/** For how long the call that opens a diff waits to learn that it cannot be shown. */
const shownMs = 5_000;
const waiting: readonly string[] = ["queued", "shown", "hidden"];
/** As many as its programs look at. */
const filesMax = 10;
const maxTextUnits = 16 * 1024;

const onePath = { filePath: { type: "string" } } as const;

/** The tools that Gemini CLI and its kin call in an editor; none of them answers a review or changes a file. */
export function httpTools(host: GuestHost): ToolTable {
  const { reviews, ports } = host;
  const tools: Tool[] = [
    {
      name: "openDiff",
      description: "Shows a proposed edit as a diff; a notification tells the person's decision.",
      inputSchema: { type: "object", properties: { ...onePath, newContent: { type: "string" } }, required: ["filePath", "newContent"] },
      call: (call) => open(host, call),
    },
    {
      name: "closeDiff",
      description: "Closes the client's diff of this file without a decision, and answers its text as it stands.",
      inputSchema: { type: "object", properties: onePath, required: ["filePath"] },
      call: async ({ client, args }) => {
        const name = text(args, "filePath") ?? "";
        await ports.view.caughtUp(); // the person's last keystrokes may still be on their way
        const found = reviews.ownedBy(client).find(({ request }) => request.tabName === name);
        if (found === undefined) return json({ content: null });
        const draft = found.fixed ? found.draft : (ports.view.text(found.id) ?? found.draft);
        const content = finalText(draft, found.request.proposal, found.base?.original ?? "").text;
        found.taken = true;
        await reviews.close(client, name);
        return json({ content });
      },
    },
  ];
  return new ToolTable(tools, {}, plainFailure);
}

/** Answers once the diff waits for the person; the decision goes to the client later. */
async function open(host: GuestHost, { client, args }: ToolCall): Promise<{ content: [] }> {
  const { reviews, ports } = host;
  const filePath = text(args, "filePath") ?? "";
  const edit = { oldPath: filePath, path: filePath, text: text(args, "newContent") ?? "", name: filePath };
  // The request is answered long before the review ends.
  const cancelled = new AbortController().signal;
  const over = review(host, { client, args, cancelled }, edit);
  client.keepFor?.(over);
  over.then(tell, (err: unknown) => {
    ports.log.info(`${filePath}: ${String(err)}`);
    // Its question in the terminal waits for us, and would do so for ever.
    if (err instanceof RpcError && err.code === "ABORTED") client.notify("ide/diffClosed", { filePath });
  });
  const isShown = (): boolean => reviews.ownedBy(client).some(({ request, machine }) => request.tabName === filePath && waiting.includes(machine.state));
  const shown = waitUntil(isShown, (look) => reviews.onChange(look), ports.clock, shownMs);
  // A refusal, but not a review that ended without a decision.
  const refusal = over.catch((err: unknown) => {
    if (!(err instanceof RpcError)) throw err;
  });
  await Promise.race([shown, refusal]);
  return { content: [] };

  function tell(decided: Decision): void {
    const isLost = decided !== "rejected" && decided.accepted === "" && edit.text !== "";
    if (isLost) ports.notices.warn(ports.t("{0} does not accept an empty text, so {1} is unchanged.", host.guest.name, visibleName(filePath)));
    if (decided === "rejected" || isLost) client.notify("ide/diffRejected", { filePath });
    else client.notify("ide/diffAccepted", { filePath, content: decided.accepted });
  }
}

/** What its programs are told about the window: the files that are open, the newest first, and the selection. */
export class OpenFiles {
  /** When each file was in front last, in milliseconds. */
  private readonly seen = new Map<string, number>();

  constructor(private readonly ports: Ports) {}

  changed(selection: Selection): void {
    this.seen.set(selection.path, this.ports.clock.now());
  }

  /** As the notification ide/contextUpdate has it. */
  context(): object {
    const { editors, workspace } = this.ports;
    const now = editors.selection();
    const open = new Set(editors.tabs().filter(({ isUntitled }) => !isUntitled).map(({ path }) => path));
    for (const path of this.seen.keys()) if (!open.has(path)) this.seen.delete(path);
    const files = [...open].map((path) => ({ path, timestamp: this.seen.get(path) ?? 0, ...(now?.path === path ? active(now) : {}) }));
    const openFiles = files.sort((a, b) => b.timestamp - a.timestamp).slice(0, filesMax);
    // A folder that is trusted here need not be trusted there.
    return { workspaceState: { openFiles, ...(workspace.isTrusted() ? {} : { isTrusted: false }) } };
  }
}

function active({ start, text: selected }: Selection): object {
  const cursor = { line: start.line + 1, character: start.character + 1 };
  return { isActive: true, cursor, ...(selected === "" ? {} : { selectedText: cap(selected, maxTextUnits) }) };
}
