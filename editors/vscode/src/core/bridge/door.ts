import { randomUUID } from "node:crypto";
import { messageOf, ToolError } from "../errors";
import { needTrust, placeOf } from "../native/access";
import type { Place } from "../native/access";
import type { Busy } from "../difftools";
import { unifiedDiff } from "../patch";
import { pathKey } from "../paths";
import type { Client, ClientStatus, Ports } from "../ports";
import type { Owner } from "../review";
import type { Reviews } from "../reviews";
import { isObject } from "../schema";
import type { Connection, ConnectionHandler } from "../server";
import { oneLine, sameText, textSha256 } from "../text";
import { applyEdits, parseEdits } from "./edits";

export interface BridgeHost {
  readonly ports: Ports;
  readonly reviews: Reviews;
  /** Files that other clients edit just now. */
  readonly others: Busy;
  readonly version: string;
  nextId(): number;
  changed(): void;
}

type Message = Readonly<Record<string, unknown>>;

/** How a question to the person ended. */
type Decision = { readonly accepted: string; readonly patch?: string } | { readonly rejected: string; readonly feedback?: string };

const capabilities = ["openDiff", "proposeDiff", "applyDiff", "closeDiff", "status"];

/** The door of programs that speak in typed messages. */
export class BridgeDoor {
  private readonly open = new Set<BridgeSession>();

  constructor(private readonly host: BridgeHost) {}

  clients(): readonly Client[] {
    return [...this.open].map(({ id, name, since, status }) => ({
      id,
      name,
      pid: undefined,
      since,
      ...(status === undefined ? {} : { status }),
    }));
  }

  connected(connection: Connection): ConnectionHandler {
    const session = new BridgeSession(this.host, (message) => connection.send(JSON.stringify(message)));
    this.open.add(session);
    this.host.changed();
    return {
      message: (text) => session.receive(text),
      closed: () => {
        this.open.delete(session);
        session.close();
        this.host.changed();
      },
    };
  }
}

/**
 * One such program. Guarantees: each message that asks is answered once, with the
 * file that it was about; nothing of a document is changed unless a person has
 * accepted exactly that text, and nothing is left of what is open when it goes.
 */
class BridgeSession implements Owner {
  readonly id: number;
  readonly since: number;
  name: string;
  status: ClientStatus | undefined;
  private readonly questions = new Set<{ readonly key: string; readonly id: unknown; readonly end: AbortController }>();
  /** The text that was accepted last for each file, and what was there then: good for one applyDiff. */
  private readonly accepted = new Map<string, { readonly text: string; readonly original: string | undefined }>();

  constructor(
    private readonly host: BridgeHost,
    private readonly send: (message: object) => void,
  ) {
    this.id = host.nextId();
    this.since = host.ports.clock.now();
    this.name = `bridge client ${this.id}`;
  }

  /** What is told beyond the answers has no message here. */
  notify(): void {
    return undefined;
  }

  close(): void {
    for (const { end } of this.questions) end.abort();
    this.host.reviews.ownerGone(this);
  }

  receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      message = undefined;
    }
    if (!isObject(message) || typeof message["type"] !== "string") {
      return this.send({ type: "error", code: "INVALID_MESSAGE", message: "a message is a JSON object with a type" });
    }
    const known = message;
    this.take(known, message["type"]).catch((err: unknown) => this.fail(known, err));
  }

  private async take(message: Message, type: string): Promise<void> {
    switch (type) {
      case "connect":
        return this.hello(message);
      case "status":
        return this.setStatus(message);
      case "openDiff":
        return this.ask(message, (place, end) => this.openDiff(message, place, end));
      case "proposeDiff":
        return this.ask(message, (place, end) => this.proposeDiff(message, place, end));
      case "applyDiff":
        return this.ask(message, (place, end) => this.applyDiff(message, place, end));
      case "closeDiff":
        return this.closeDiff(message);
      default:
        throw new ToolError("INVALID_PARAMS", `no such message: ${oneLine(type, 60)}`);
    }
  }

  private hello(message: Message): void {
    const { ports, version } = this.host;
    const name = message["client"] ?? message["name"];
    if (typeof name === "string" && name !== "") this.name = oneLine(name, 60);
    this.host.changed();
    const folders = ports.workspace.folders().map(({ path }) => path);
    this.send({ type: "connected", ideName: ports.workspace.name, version, capabilities, workspaceFolders: folders, ...idOf(message) });
  }

  private setStatus(message: Message): void {
    const text = oneLine(typeof message["message"] === "string" ? message["message"] : "", 60);
    this.status = { state: message["level"] === "error" ? "error" : text === "" ? "idle" : "working", text, tooltip: "" };
    this.host.changed();
  }

  /** Puts a question to the person and answers with its end. */
  private async ask(message: Message, question: (place: Place, end: AbortSignal) => Promise<Decision>): Promise<void> {
    const place = await placeOf(this.host.ports.workspace, textOf(message, "file"));
    if (this.host.others.isBusy(place.path)) throw new ToolError("BUSY", "another client's edit of this file waits for its review");
    const open = { key: pathKey(place.path), id: message["id"], end: new AbortController() };
    this.questions.add(open);
    try {
      const decision = await question(place, open.end.signal);
      if ("rejected" in decision) {
        const { rejected, ...more } = decision;
        return this.send({ type: "diffRejected", file: message["file"], reason: rejected, ...more, ...idOf(message) });
      }
      const { accepted, ...more } = decision;
      this.send({ type: "diffAccepted", file: message["file"], content: accepted, ...more, ...idOf(message) });
    } finally {
      this.questions.delete(open);
    }
  }

  private async openDiff(message: Message, place: Place, end: AbortSignal): Promise<Decision> {
    const before = message["before"];
    const decision = await this.review(message, place, textOf(message, "after"), typeof before === "string" ? before : undefined, end);
    if ("accepted" in decision) {
      const original = await this.textIn(place).catch(() => undefined); // of a file that is not there nothing is applied
      this.accepted.set(pathKey(place.path), { text: decision.accepted, original });
    }
    return decision;
  }

  /** In the document itself, where it is neither changed nor saved by itself; else as a diff. */
  private async proposeDiff(message: Message, place: Place, end: AbortSignal): Promise<Decision> {
    const { inline, workspace } = this.host.ports;
    needTrust(workspace);
    const original = await this.textIn(place);
    const proposed = applyEdits(original, parseEdits(message["edits"]));
    if (!(await inline.possible(place.path))) return this.review(message, place, proposed, original, end);
    const release = await this.whole(place.path, end);
    try {
      const text = await inline.propose({ path: place.path, original, proposed, description: descriptionOf(message) }, end);
      if (text === undefined) return { rejected: end.aborted ? "closed" : "rejected" };
      return { accepted: text, ...(sameText(text, proposed) ? {} : { patch: unifiedDiff(place.relative, proposed, text) }) };
    } finally {
      release();
    }
  }

  /** The file's lock, so that no other review of it begins. */
  private whole(path: string, end: AbortSignal): Promise<() => void> {
    return new Promise((done, fail) => {
      const release = this.host.reviews.lock(path, () => done(() => release()));
      end.addEventListener("abort", () => {
        release();
        fail(new ToolError("ABORTED", "closed before it was shown"));
      });
    });
  }

  private async applyDiff(message: Message, place: Place, end: AbortSignal): Promise<Decision> {
    const { documents, workspace } = this.host.ports;
    needTrust(workspace);
    const original = await this.textIn(place);
    const after = typeof message["after"] === "string" ? message["after"] : applyEdits(original, parseEdits(message["edits"]));
    const key = pathKey(place.path);
    const known = this.accepted.get(key);
    this.accepted.delete(key);
    const settled = known?.text === after && (known.original === original || original === after);
    const decision: Decision = settled ? { accepted: after } : await this.review(message, place, after, original, end);
    if (!("accepted" in decision)) return decision;
    if ((await this.textIn(place)) !== original) throw new ToolError("STALE_BASE", "the file has changed meanwhile; nothing was changed");
    await documents.edit(place.path, decision.accepted);
    return decision;
  }

  /** What is in the editor, or else on disk. */
  private async textIn({ path }: Place): Promise<string> {
    const { documents } = this.host.ports;
    const buffer = documents.buffer(path);
    if (buffer !== undefined) return buffer.text;
    const file = await documents.read(path);
    if (!file.exists) throw new ToolError("FILE_NOT_FOUND", "there is no such file");
    if (file.binary) throw new ToolError("BINARY_FILE", "it is a binary file");
    return file.text;
  }

  private async review(message: Message, place: Place, after: string, before: string | undefined, end: AbortSignal): Promise<Decision> {
    const { reviews } = this.host;
    const diffId = randomUUID();
    const request = {
      path: place.path,
      oldPath: place.path,
      proposal: after,
      tabName: diffId,
      diffId,
      description: descriptionOf(message),
      baseSha256: before === undefined ? undefined : textSha256(before),
      onClose: "reject" as const,
      stack: false,
      timeoutMs: undefined,
    };
    const { answer } = reviews.ask(this, request, place.relative);
    end.addEventListener("abort", () => void reviews.close(this, diffId));
    if (end.aborted) void reviews.close(this, diffId);
    const result = await answer;
    const told = reviews.decided(this, diffId)?.told;
    if (told?.outcome === "accepted") return { accepted: told.text ?? "", ...(told.patch === undefined ? {} : { patch: told.patch }) };
    if (told !== undefined) return { rejected: told.reason, ...(told.feedback === undefined ? {} : { feedback: told.feedback }) };
    if (typeof result !== "string" && result.isError === true) throw failureOf(result.structuredContent);
    return { rejected: end.aborted ? "closed" : "superseded" };
  }

  /** Ends what is open about a file (or under an id), which its own message answers. */
  private async closeDiff(message: Message): Promise<void> {
    const id = message["id"];
    const key = typeof message["file"] === "string" ? pathKey((await placeOf(this.host.ports.workspace, message["file"])).path) : undefined;
    const wanted = [...this.questions].filter((each) => (key === undefined ? id !== undefined && each.id === id : each.key === key));
    if (wanted.length === 0) throw new ToolError("DIFF_NOT_FOUND", "no diff of this file is open");
    for (const { end } of wanted) end.abort();
  }

  private fail(message: Message, err: unknown): void {
    const known = err instanceof ToolError;
    if (!known) this.host.ports.log.error(`${String(message["type"])}: ${messageOf(err)}`);
    const file = typeof message["file"] === "string" ? { file: message["file"] } : {};
    this.send({ type: "error", code: known ? err.code : "INTERNAL", message: messageOf(err), ...file, ...idOf(message) });
  }
}

function idOf({ id }: Message): object {
  return typeof id === "string" || typeof id === "number" ? { id } : {};
}

function textOf(message: Message, key: string): string {
  const value = message[key];
  if (typeof value !== "string") throw new ToolError("INVALID_PARAMS", `${key} must be a string`);
  return value;
}

function descriptionOf({ description }: Message): string {
  return typeof description === "string" ? description : "";
}

/** The error of a review that could not be. */
function failureOf(failure: object | undefined): ToolError {
  const { code, message } = (failure ?? {}) as Partial<ToolError>;
  return new ToolError(code ?? "INTERNAL", message ?? "the review failed");
}
