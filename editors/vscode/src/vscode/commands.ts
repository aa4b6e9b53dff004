import * as vscode from "vscode";
import type { Core } from "../core/core";
import { isPending } from "../core/review";
import type { InlineDocuments } from "./inlinedocs";
import type { KeptDrafts } from "./keptdrafts";
import { pickAlways, pickMode } from "./questions";
import type { SideTexts } from "./sidetexts";
import type { Registration } from "./registration";
import type { Remarks } from "./remarks";
import type { Status } from "./status";
import type { Terminals } from "./terminals";
import { pathOf, proposedScheme, reviewId } from "./uri";
import type { Views } from "./views";

export interface Parts {
  readonly core: Core;
  readonly views: Views;
  readonly inline: InlineDocuments;
  readonly documents: SideTexts;
  readonly registration: Registration;
  readonly remarks: Remarks;
  readonly status: Status;
  readonly terminals: Terminals;
  readonly log: vscode.LogOutputChannel;
  readonly kept: KeptDrafts | undefined;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Registers every command of the manifest. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const { core, remarks, terminals, log } = parts;
  const table: Record<string, (...args: unknown[]) => unknown> = {
    "agent.diffAccept": (...targets) => answer(parts, targets, "accept"),
    "agent.acceptAlways": (...targets) => acceptAlways(parts, targets),
    "agent.diffReject": (...targets) => answer(parts, targets, "reject"),
    "agent.diffRejectWithReason": (...targets) => rejectWithReason(parts, targets),
    "agent.nextReview": () => go(parts, 1),
    "agent.previousReview": () => go(parts, -1),
    "agent.notYet": notYet,
    "agent.showReview": (id) => show(parts, String(id)),
    "agent.showQuestion": () => showQuestion(parts),
    "agent.startInTerminal": () => terminals.start(),
    "agent.demo": () => terminals.start(" demo"),
    "agent.mentionSelection": (target, all) => mention(parts, target, all),
    "agent.showLog": () => log.show(),
    "agent.diffSave": () => save(parts),
    "agent.inline.acceptChange": (...target) => decideChange(parts, "accept", target),
    "agent.inline.rejectChange": (...target) => decideChange(parts, "reject", target),
    "agent.inline.nextChange": () => parts.inline.go(1),
    "agent.inline.previousChange": () => parts.inline.go(-1),
    "agent.toggleView": (...targets) => toggleView(parts, targets),
    "agent.showCheck": (id) => showCheck(parts, id),
    "agent.showReason": (uri) => uri instanceof vscode.Uri && parts.views.headers.unfold(uri),
    "agent.keptDrafts": () => parts.kept?.choose(),
    "agent.showRevision": (...targets) => showRevision(parts, targets),
    "agent.mcp.register": () => parts.registration.add(),
    "agent.mcp.unregister": () => parts.registration.remove(),
    "agent.mcp.copyConfig": () => copyConfig(core),
    "agent.start": () => parts.start(),
    "agent.stop": () => parts.stop(),
    "agent.status": () => showStatus(parts),
    "agent.comment.add": (reply) => remarks.add(reply as vscode.CommentReply),
    "agent.comment.delete": (thread) => remarks.delete(thread as vscode.CommentThread),
  };
  const registered = Object.entries(table).map(([name, run]) => vscode.commands.registerCommand(name, run));
  return vscode.Disposable.from(...registered);
}

interface Target {
  readonly id: string;
  readonly by: "button" | "command";
}

/**
 * The reviews that a command means: those of the button's or list's own
 * arguments, else that of the active tab. An edit that is not on the screen is
 * never answered by a key; it is shown instead.
 */
function targetsOf(parts: Parts, args: unknown[]): Target[] {
  const named = args.map(uriOf).map((uri) => (uri === undefined ? undefined : reviewId(uri)));
  const ids = new Set(named.filter((id) => id !== undefined));
  const active = parts.views.active();
  if (ids.size > 0) return answerable(parts, [...ids].map((id) => ({ id, by: "button" })));
  if (active === undefined) go(parts, 1);
  else if (parts.views.hasKeys()) return answerable(parts, [{ id: active, by: "command" }]);
  else notYet();
  return [];
}

/**
 * Takes a key or a click that came before the review could be seen. While the commands of the
 * review are off, the editor would give their keys to the text.
 */
function notYet(): void {
  void vscode.window.setStatusBarMessage(vscode.l10n.t("The review has just appeared: answer again."), 3_000);
}

/** Leaves out edits that are being changed in the terminal, with a message. */
function answerable(parts: Parts, targets: Target[]): Target[] {
  const free = targets.filter(({ id }) => parts.core.reviews.get(id)?.held !== true);
  if (free.length < targets.length) sayHeld();
  // A key or a click meant for something else must not answer a question that has just appeared.
  const ready = free.filter(({ id }) => parts.core.reviews.get(id) === undefined || parts.core.reviews.isReady(id));
  if (ready.length < free.length) notYet();
  return ready;
}

function sayHeld(): void {
  void vscode.window.showInformationMessage(vscode.l10n.t("This edit is being changed in the terminal. Finish there first."));
}

function uriOf(target: unknown): vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  if (typeof target !== "object" || target === null || !("resourceUri" in target)) return undefined;
  return target.resourceUri instanceof vscode.Uri ? target.resourceUri : undefined;
}

async function answer(parts: Parts, args: unknown[], what: "accept" | "reject"): Promise<void> {
  for (const target of targetsOf(parts, args)) await answerOne(parts, target, what);
}

async function answerOne({ core: { reviews }, inline }: Parts, { id, by }: Target, what: "accept" | "reject"): Promise<void> {
  const review = reviews.get(id);
  // A proposal of a program that leaves the writing to the editor is no review.
  if (review === undefined) return inline.decideAll(id, what);
  if (what === "reject") return reviews.reject(id, by);
  const mode = review.isPlan ? await pickMode() : undefined;
  // Escape is no answer.
  if (!review.isPlan || mode !== undefined) reviews.accept(id, by, mode);
}

/**
 * Accepts the review by the key that saves, with the text that is on the screen: a save would let
 * formatters change it.
 */
function save(parts: Parts): void {
  for (const { id } of targetsOf(parts, [])) parts.core.reviews.accept(id, "save");
}

/** Accepts an edit, and allows more than that: the person chooses what, and for how long. */
async function acceptAlways(parts: Parts, args: unknown[]): Promise<void> {
  const [target] = targetsOf(parts, args);
  if (target === undefined) return;
  const offer = parts.core.reviews.get(target.id)?.offer;
  if (offer === undefined) return void vscode.window.showInformationMessage(vscode.l10n.t("No rule can be made with this edit. Accept or reject it."));
  const always = await pickAlways(offer.rule);
  // Escape is no answer.
  if (always !== undefined) parts.core.reviews.accept(target.id, target.by, undefined, always);
}

/** Decides the change of a lens, or, from a key, that at the cursor. */
function decideChange(parts: Parts, what: "accept" | "reject", lens: unknown[]): Promise<void> | void {
  return lens.length > 0 || parts.views.hasKeys() ? parts.inline.decide(what, ...lens) : notYet();
}

/** The review of the button's own argument, else that of the active tab. */
function meant(views: Views, args: unknown[]): string | undefined {
  return args.map(uriOf).map((uri) => (uri === undefined ? undefined : reviewId(uri)))[0] ?? views.active();
}

async function toggleView(parts: Parts, args: unknown[]): Promise<void> {
  const id = meant(parts.views, args);
  if (id === undefined) return;
  if (parts.core.reviews.get(id)?.held === true) return sayHeld();
  await parts.views.toggle(id);
}

/** Shows the output of the check of a lens's review, or of the active one. */
async function showCheck({ core, views, documents }: Parts, id: unknown): Promise<void> {
  const review = core.reviews.get(typeof id === "string" ? id : (views.active() ?? ""));
  if (review?.check === undefined) return void vscode.window.showInformationMessage(vscode.l10n.t("No check has tried this edit."));
  await documents.showCheck(review.id, review.check);
}

/** Compares a proposal with the one that the person refused before. */
async function showRevision({ views, documents }: Parts, args: unknown[]): Promise<void> {
  const id = meant(views, args);
  const revision = id === undefined ? undefined : views.revision(id);
  if (id === undefined || revision === undefined) return void vscode.window.showInformationMessage(vscode.l10n.t("You have not rejected a proposal for this file with a reason."));
  await documents.showRevision(id, revision);
}

async function rejectWithReason(parts: Parts, args: unknown[]): Promise<void> {
  const targets = targetsOf(parts, args);
  if (targets.length === 0) return;
  const reason = await vscode.window.showInputBox({
    title: vscode.l10n.t("Reject with a Reason"),
    prompt: vscode.l10n.t("What should the agent do instead?"),
    placeHolder: vscode.l10n.t("please keep the old name"),
    ignoreFocusOut: true,
  });
  // Escape is no answer; an empty reason is a plain rejection.
  if (reason === undefined) return;
  for (const { id, by } of targets) parts.core.reviews.reject(id, by, reason);
}

/** Shows the next review (or the previous one), counted from the one on the screen. */
function go(parts: Parts, step: 1 | -1): void {
  const waiting = parts.core.reviews.list().filter(isPending);
  if (waiting.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("No edit waits for your review."));
    return;
  }
  const active = parts.views.active();
  const at = waiting.findIndex((review) => review.id === active);
  const from = at === -1 && step === -1 ? 0 : at;
  const next = waiting[(from + step + waiting.length) % waiting.length];
  if (next !== undefined) show(parts, next.id);
}

function show(parts: Parts, id: string): void {
  parts.views.takeFocus(id);
  parts.core.reviews.show(id);
}

/** Leads to what waits for the person: the review, else the terminal that asks. */
function showQuestion(parts: Parts): void {
  if (parts.core.reviews.list().some(isPending)) return go(parts, 1);
  const asking = parts.core.clients().find(({ status }) => status?.state === "waiting");
  if (!parts.terminals.show(asking?.pid)) parts.log.show();
}

/** Shows the state of the connection, with buttons for the next steps. */
async function showStatus({ status, log, start, stop }: Parts): Promise<void> {
  const [listens, showLog] = [status.listens(), vscode.l10n.t("Show Log")];
  const turn = listens ? vscode.l10n.t("Stop Listening") : vscode.l10n.t("Start Listening");
  const buttons = listens ? [showLog, turn] : [turn, showLog];
  const choice = await vscode.window.showInformationMessage(status.report(), ...buttons);
  if (choice === showLog) log.show();
  else if (choice !== undefined) await (listens ? stop() : start());
}

/** Puts on the clipboard what another MCP client needs, as most of them write it. */
async function copyConfig(core: Core): Promise<void> {
  const entry = core.mcpEntry();
  if (entry === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Nothing listens for MCP clients: see the settings agent.autoStart and agent.mcp.enabled."));
    return;
  }
  await vscode.env.clipboard.writeText(JSON.stringify({ mcpServers: { agent: { type: "http", ...entry } } }, null, 2));
  void vscode.window.showInformationMessage(vscode.l10n.t("The configuration for MCP clients is on the clipboard. It holds a token: give it only to programs of your own."));
}

interface Place {
  readonly path: string;
  readonly lines?: { start: number; end: number };
}

/** Tells the agents to put files, or the selected lines of one, into the prompt. */
async function mention(parts: Parts, target: unknown, all: unknown): Promise<void> {
  const places = await placesOf(target, all);
  if (places.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Select lines of a file first, then mention them."));
    return;
  }
  let told = 0;
  for (const { path, lines } of places) told = parts.core.mention(path, lines);
  if (told > 0) return void parts.terminals.show();
  void vscode.window
    .showInformationMessage(vscode.l10n.t("No agent is connected to this window."), vscode.l10n.t("Start Agent"))
    .then((choice) => (choice === undefined ? undefined : parts.terminals.start()));
}

/** The places that a command means: the items selected in the Explorer, which passes them all, else the selection in the editor. */
async function placesOf(target: unknown, all: unknown): Promise<Place[]> {
  if (target instanceof vscode.Uri && Array.isArray(all)) {
    const uris = all.length === 0 ? [target] : all.filter((each) => each instanceof vscode.Uri);
    return Promise.all(uris.map(async (uri) => ({ path: await nameOf(uri) })));
  }
  const place = selectedPlace() ?? (target instanceof vscode.Uri ? { path: await nameOf(target) } : undefined);
  return place === undefined ? [] : [place];
}

/** The path of a file; a folder's ends with a slash. */
async function nameOf(uri: vscode.Uri): Promise<string> {
  const stat = await vscode.workspace.fs.stat(uri).then(undefined, () => undefined);
  const isFolder = stat !== undefined && (stat.type & vscode.FileType.Directory) !== 0;
  return isFolder ? `${uri.fsPath}/` : uri.fsPath;
}

function selectedPlace(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const { uri } = editor.document;
  if (uri.scheme !== "file" && uri.scheme !== proposedScheme) return undefined;
  const { selection } = editor;
  const path = pathOf(uri);
  if (selection.isEmpty) return { path };
  // A selection that ends before the first character of a line does not hold that line.
  const last = selection.end.character === 0 ? selection.end.line - 1 : selection.end.line;
  return { path, lines: { start: selection.start.line, end: Math.max(selection.start.line, last) } };
}
