import * as vscode from "vscode";
import type { Core } from "../core/core";
import type { Diffs } from "./diffs";
import { isPending } from "./pending";
import type { Remarks } from "./remarks";
import { activeReview } from "./tabs";
import type { Terminals } from "./terminals";
import { proposedScheme, reviewId } from "./uri";

export interface Parts {
  readonly core: Core;
  readonly diffs: Diffs;
  readonly remarks: Remarks;
  readonly terminals: Terminals;
  readonly log: vscode.LogOutputChannel;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Registers every command of the manifest. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const { core, remarks, terminals, log } = parts;
  const table: Record<string, (...args: unknown[]) => unknown> = {
    "agent.diffAccept": (target) => answer(parts, target, (id, by) => core.reviews.accept(id, by)),
    "agent.diffReject": (target) => answer(parts, target, (id, by) => core.reviews.reject(id, by)),
    "agent.diffRejectWithReason": (target) => rejectWithReason(parts, target),
    "agent.nextReview": () => go(parts, 1),
    "agent.previousReview": () => go(parts, -1),
    "agent.showReview": (id) => show(parts, String(id)),
    "agent.startInTerminal": () => terminals.start(),
    "agent.mentionSelection": (target) => mention(parts, target),
    "agent.showLog": () => log.show(),
    "agent.start": () => parts.start(),
    "agent.stop": () => parts.stop(),
    "agent.comment.add": (reply) => remarks.add(reply as vscode.CommentReply),
    "agent.comment.delete": (thread) => remarks.delete(thread as vscode.CommentThread),
  };
  const registered = Object.entries(table).map(([name, run]) => vscode.commands.registerCommand(name, run));
  return vscode.Disposable.from(...registered);
}

/**
 * The review that a command means: that of the button's or list's own argument,
 * else that of the active tab. An edit that is not on the screen is never
 * answered by a key; it is shown instead.
 */
function targetOf(parts: Parts, target: unknown): { id: string; by: "button" | "command" } | undefined {
  const uri = uriOf(target);
  const named = uri === undefined ? undefined : reviewId(uri);
  if (named !== undefined) return { id: named, by: "button" };
  const active = activeReview();
  if (active !== undefined) return { id: active, by: "command" };
  go(parts, 1);
  return undefined;
}

function uriOf(target: unknown): vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  if (typeof target !== "object" || target === null || !("resourceUri" in target)) return undefined;
  return target.resourceUri instanceof vscode.Uri ? target.resourceUri : undefined;
}

function answer(parts: Parts, target: unknown, give: (id: string, by: "button" | "command") => void): void {
  const found = targetOf(parts, target);
  if (found === undefined) return;
  const review = parts.core.reviews.get(found.id);
  if (review?.held === true) {
    void vscode.window.showInformationMessage("This edit is being changed in the terminal. Finish there first.");
    return;
  }
  give(found.id, found.by);
}

async function rejectWithReason(parts: Parts, target: unknown): Promise<void> {
  const found = targetOf(parts, target);
  if (found === undefined) return;
  const reason = await vscode.window.showInputBox({
    title: "Reject with a Reason",
    prompt: "What should the agent do instead?",
    placeHolder: "please keep the old name",
    ignoreFocusOut: true,
  });
  // Escape is no answer; an empty reason is a plain rejection.
  if (reason !== undefined) parts.core.reviews.reject(found.id, found.by, reason);
}

/** Shows the next review (or the previous one), counted from the one on the screen. */
function go(parts: Parts, step: 1 | -1): void {
  const waiting = parts.core.reviews.list().filter(isPending);
  if (waiting.length === 0) {
    void vscode.window.showInformationMessage("No edit waits for your review.");
    return;
  }
  const active = activeReview();
  const at = waiting.findIndex((review) => review.id === active);
  const from = at === -1 && step === -1 ? 0 : at;
  const next = waiting[(from + step + waiting.length) % waiting.length];
  if (next !== undefined) show(parts, next.id);
}

function show(parts: Parts, id: string): void {
  parts.diffs.takeFocus(id);
  parts.core.reviews.show(id);
}

/** Tells the agents to put a file, or the selected lines of it, into the prompt. */
function mention(parts: Parts, target: unknown): void {
  const place = target instanceof vscode.Uri ? { path: target.fsPath } : selectedPlace();
  if (place === undefined) {
    void vscode.window.showInformationMessage("Select lines of a file first, then mention them.");
    return;
  }
  const told = parts.core.mention(place.path, "lines" in place ? place.lines : undefined);
  if (told > 0) return parts.terminals.show();
  void vscode.window
    .showInformationMessage("No agent is connected to this window.", "Start Agent")
    .then((choice) => choice !== undefined && parts.terminals.start());
}

function selectedPlace(): { path: string; lines?: { start: number; end: number } } | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const { uri } = editor.document;
  if (uri.scheme !== "file" && uri.scheme !== proposedScheme) return undefined;
  const { selection } = editor;
  if (selection.isEmpty) return { path: uri.fsPath };
  // A selection that ends before the first character of a line does not hold that line.
  const last = selection.end.character === 0 ? selection.end.line - 1 : selection.end.line;
  return { path: uri.fsPath, lines: { start: selection.start.line, end: Math.max(selection.start.line, last) } };
}
