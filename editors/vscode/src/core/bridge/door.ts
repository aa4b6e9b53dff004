import { randomUUID } from "node:crypto";
import { lookAt, needExact, needStorable, needText } from "../base";
import { messageOf, ToolError } from "../errors";
import { needTrust, placeOf } from "../native/access";
import type { Place } from "../native/access";
import type { Edits } from "../native/edits";
import { toolError } from "../native/guarded";
import { pathKey } from "../paths";
import type { Client, ClientStatus, Ports } from "../ports";
import type { Owner, ReviewRequest } from "../review";
import type { Reviews } from "../reviews";
import { isObject } from "../schema";
import type { Connection, ConnectionHandler } from "../server";
import { oneLine, textSha256, withEolsOf } from "../text";
import { applyEdits, parseEdits } from "./edits";

export interface BridgeHost {
  readonly ports: Ports;
  readonly reviews: Reviews;
  readonly edits: Edits;
  readonly version: string;
  nextId(): number;
  changed(): void;
}

type Message = Readonly<Record<string, unknown>>;

/** A question for the person. */
interface Question {
  readonly place: Promise<Place>;
  readonly id: unknown;
  readonly end: AbortController;
}

interface Accepted {
  readonly accepted: string;
  readonly saved?: true;
  readonly patch?: string;
  readonly formatEdits?: string;
  /** The person has said yes although the file had changed. */
  readonly stale?: boolean;
}

/** How a question to the person ended. */
type Decision =
  | Accepted
  | { readonly rejected: string; readonly feedback?: string };

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
 * A connected program. Answers each question once, with the file that it was about; changes a
 * document only to exactly the text that a person has accepted; and closes everything of the
 * program's when it disconnects.
 */
class BridgeSession implements Owner {
  readonly id: number;
  readonly since: number;
  name: string;
  status: ClientStatus | undefined;
  private readonly questions = new Set<Question>();
  /** For each file the text accepted last, and the text before the review: valid for one applyDiff. */
  private readonly accepted = new Map<string, { readonly text: string; readonly original: string | undefined }>();

  constructor(
    private readonly host: BridgeHost,
    private readonly send: (message: object) => void,
  ) {
    this.id = host.nextId();
    this.since = host.ports.clock.now();
    this.name = `bridge client ${this.id}`;
  }

  /** The protocol has no message for other notifications. */
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
    const found = placeOf(this.host.ports.workspace, textOf(message, "file"));
    // From here on it can be closed, also before its file has been found.
    const open = { place: found, id: message["id"], end: new AbortController() };
    this.questions.add(open);
    try {
      const place = await found;
      if (this.host.edits.isBusy(place.path)) throw new ToolError("BUSY", "another edit of this file waits for its review");
      const decision = await question(place, open.end.signal);
      if ("rejected" in decision) {
        const { rejected, ...more } = decision;
        return this.send({ type: "diffRejected", file: message["file"], reason: rejected, ...more, ...idOf(message) });
      }
      const { accepted: content, saved, patch, formatEdits } = decision;
      this.send({ type: "diffAccepted", file: message["file"], content, saved, patch, formatEdits, ...idOf(message) });
    } finally {
      this.questions.delete(open);
    }
  }

  private async openDiff(message: Message, place: Place, end: AbortSignal): Promise<Decision> {
    const before = message["before"];
    return this.approve(message, place, textOf(message, "after"), typeof before === "string" ? before : undefined, end);
  }

  /** Asks with a diff; the accepted text may be applied once. */
  private async approve(message: Message, place: Place, after: string, before: string | undefined, end: AbortSignal): Promise<Decision> {
    // Before the review: text typed during it is not in it, and must not be replaced.
    const original = await this.textIn(place).catch(() => undefined); // a missing file gets nothing applied
    const decision = await this.review(message, place, after, before, end);
    if ("accepted" in decision) {
      this.accepted.set(pathKey(place.path), { text: decision.accepted, original });
    }
    return decision;
  }

  /** In one text with the file, which the editor writes; as a diff, if the document has unsaved changes, because then the client applies it. */
  private async proposeDiff(message: Message, place: Place, end: AbortSignal): Promise<Decision> {
    const { edits, ports } = this.host;
    const { documents } = ports;
    needTrust(ports.workspace);
    const original = await this.textIn(place);
    const proposed = applyEdits(original, parseEdits(message["edits"]));
    if (documents.buffer(place.path)?.isDirty === true) return this.approve(message, place, proposed, original, end);
    const decided = await edits.inTurn(place.path, end, async (): Promise<Decision> => {
      const base = await lookAt(documents, place.path, textSha256(original));
      const text = withEolsOf(proposed, base.original);
      await needStorable(documents, text, base.file.encoding);
      const decision = await this.review(message, place, text, original, end, { inline: true, locked: true });
      if (!("accepted" in decision)) return decision;
      const { accepted, patch, stale } = decision;
      const kept = patch === undefined ? {} : { patch };
      const formatEdits = await keeping(kept, () => edits.write(place, base, { text: accepted, stale })).catch((err: unknown) => {
        edits.warnUnwritten(place);
        throw err;
      });
      const saved = await documents.read(place.path, base.file.encoding);
      return { accepted: saved.text, saved: true, ...kept, ...(formatEdits === "" ? {} : { formatEdits }) };
    });
    return decided ?? { rejected: "closed" };
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
    const { accepted, patch } = decision;
    await keeping(patch === undefined ? {} : { patch }, async () => {
      if ((await this.textIn(place)) !== original) throw new ToolError("STALE_BASE", "the file has changed meanwhile; nothing was changed");
      const { encoding } = await documents.read(place.path);
      await needStorable(documents, accepted, encoding);
      await documents.edit(place.path, accepted, encoding);
    });
    return decision;
  }

  /** The text in the editor, else the one on disk. */
  private async textIn({ path }: Place): Promise<string> {
    const { documents } = this.host.ports;
    const buffer = documents.buffer(path);
    const file = await documents.read(path);
    if (buffer?.isDirty === true && buffer.text !== undefined) {
      needExact(file, buffer, path);
      return buffer.text;
    }
    if (!file.exists) throw new ToolError("FILE_NOT_FOUND", "there is no such file");
    needText(file, path);
    return file.text;
  }

  private async review(message: Message, place: Place, after: string, before: string | undefined, end: AbortSignal, how: Partial<ReviewRequest> = {}): Promise<Decision> {
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
      ...how,
    };
    const { answer } = reviews.ask(this, request, place.relative);
    end.addEventListener("abort", () => void reviews.close(this, diffId));
    if (end.aborted) void reviews.close(this, diffId);
    const result = await answer;
    const told = reviews.decided(this, diffId)?.told;
    if (told?.outcome === "accepted") return { accepted: told.text ?? "", stale: told.stale, ...(told.patch === undefined ? {} : { patch: told.patch }) };
    if (told !== undefined) return { rejected: told.reason, ...(told.feedback === undefined ? {} : { feedback: told.feedback }) };
    if (typeof result !== "string" && result.isError === true) throw failureOf(result.structuredContent);
    return { rejected: end.aborted ? "closed" : "superseded" };
  }

  /** Ends everything open about a file (or under an id); each pending message gets its own answer. */
  private async closeDiff(message: Message): Promise<void> {
    const { id } = message;
    const file = message["file"];
    const wanted = typeof file === "string" ? await this.about(file) : [...this.questions].filter((each) => id !== undefined && each.id === id);
    if (wanted.length === 0) throw new ToolError("DIFF_NOT_FOUND", "no diff of this file is open");
    for (const { end } of wanted) end.abort();
  }

  private async about(file: string): Promise<Question[]> {
    const key = pathKey((await placeOf(this.host.ports.workspace, file)).path);
    const places = [...this.questions].map(async (each) => ({ each, place: await each.place.catch(() => undefined) }));
    const known = await Promise.all(places);
    return known.filter(({ place }) => place !== undefined && pathKey(place.path) === key).map(({ each }) => each);
  }

  private fail(message: Message, err: unknown): void {
    const known = err instanceof ToolError;
    if (!known || err.code === "INTERNAL") this.host.ports.log.error(`${String(message["type"])}: ${messageOf(err)}`);
    const file = typeof message["file"] === "string" ? { file: message["file"] } : {};
    const kept = err instanceof Unwritten ? err.patch : {};
    this.send({ type: "error", code: known ? err.code : "INTERNAL", message: messageOf(err), ...file, ...kept, ...idOf(message) });
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

/** The error of an edit that was not written although the person had not refused it. */
class Unwritten extends ToolError {
  constructor(
    { code, message }: ToolError,
    /** The person's changes, which are nowhere else any more. */
    readonly patch: object,
  ) {
    super(code, message);
  }
}

/** Writes an accepted edit; if that fails, the client gets the person's changes with the error. */
async function keeping<T>(patch: object, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (err) {
    throw new Unwritten(toolError(err), patch);
  }
}

/** The error of a review that could not be. */
function failureOf(failure: object | undefined): ToolError {
  const { code, message } = (failure ?? {}) as Partial<ToolError>;
  return new ToolError(code ?? "INTERNAL", message ?? "the review failed");
}
