import * as vscode from "vscode";
import { Merged, States } from "../core/merged";
import type { Hunk } from "../core/merged";
import type { Check } from "../core/ports";
import { buttonsMs } from "../core/ready";
import { saveTyped } from "../core/saving";
import { cap, toLf, withEol } from "../core/text";
import type { CheckMarks } from "./checks";
import { replaceAll } from "./documents";
import { toLenses } from "./headers";
import type { Heading, Headers, Lens } from "./headers";
import { Saves } from "./saves";
import type { SideFiles } from "./sidefiles";
import { allTabs, caughtUp, closeTabs, tabThere } from "./tabs";
import { inlineScheme, reviewUri } from "./uri";

/** The prefix, in the manifest, of languages with the colors of others, and no server that reports on them. */
const mergedLanguage = "agent-merged-";

/** The most removed text shown beside a change's lens. */
const tooltipMax = 2_000;

export type What = "accept" | "reject";

/** The caller that shows a proposal and learns its result. */
export interface Proposer {
  /** Whether it has been on the screen long enough for an answer to count. */
  ready(): boolean;
  changed(draft: string): void;
  /** Everything is decided: this is the resulting text. Reports whether that is taken for an answer. */
  decided(draft: string): boolean | Promise<boolean>;
}

export interface InlineProposed {
  readonly id: string;
  readonly path: string;
  readonly original: string;
  readonly proposed: string;
  readonly title: string;
  readonly heading: Heading;
  /** Why nothing can be decided just now; empty if it can. */
  readonly locked: string;
  /** Nothing can be typed. */
  readonly fixed: boolean;
}

interface Entry extends Omit<InlineProposed, "heading" | "locked"> {
  heading: Heading;
  readonly uri: vscode.Uri;
  readonly proposer: Proposer;
  merged: Merged;
  /** What our own edit of the document is about to make of it. */
  next: Merged | undefined;
  readonly states: States;
  locked: string;
}

/**
 * Reviews in one text, with the removed lines above the added ones and Accept and
 * Reject above each change. The text is a document in memory: nothing that happens
 * to it, no save of any kind, reaches the file under review.
 */
export class InlineDocuments implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly entries = new Map<string, Entry>();
  private readonly lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lenses.event;
  private readonly styles = { added: lineStyle("+", "inserted", "added"), removed: lineStyle("−", "removed", "deleted") };
  /** The texts without the undecided changes of the reviews that are shown as diffs for a while. */
  private readonly left = new Map<string, string>();
  private readonly listeners: vscode.Disposable[];
  private readonly saves: Saves;
  /** Our last edit that takes back a change of the fixed lines: a document that it changes cannot close without a question. */
  private restoring: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly files: SideFiles,
    private readonly headers: Headers,
    private readonly checks: CheckMarks,
  ) {
    this.saves = new Saves(files);
    this.listeners = [
      this.saves,
      vscode.languages.registerCodeLensProvider({ scheme: inlineScheme }, this),
      vscode.workspace.onDidOpenTextDocument((document) => void plain(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  has(id: string): boolean {
    return this.byId(id) !== undefined;
  }

  /** Makes the text of a proposal; show makes it visible. */
  async add(proposed: InlineProposed, proposer: Proposer): Promise<void> {
    const uri = reviewUri(inlineScheme, proposed.path, proposed.id);
    const merged = Merged.of(this.left.get(proposed.id) ?? proposed.original, proposed.proposed);
    const entry: Entry = { ...proposed, uri, proposer, merged, next: undefined, states: new States() };
    entry.states.add(merged);
    await this.files.set(uri, this.withEol(entry, merged.text));
    this.files.lock(uri, proposed.fixed);
    this.entries.set(uri.toString(), entry);
    this.headers.show(uri, proposed.heading, merged.hunks[0]?.from, { locked: proposed.locked });
    this.mark(entry);
  }

  /** The check of a proposal has begun, or ended. */
  checked(id: string, check: Check): void {
    const entry = this.byId(id);
    if (entry === undefined) return;
    entry.heading = { ...entry.heading, check };
    this.headers.update(entry.uri, entry.heading);
    this.mark(entry);
    this.refresh();
  }

  /** Shows the problems of the check at the lines of the draft. */
  private mark({ uri, heading: { check }, merged }: Entry): void {
    if (check !== undefined) this.checks.show(uri, check, (line) => merged.shownAt(line));
  }

  /** Shows a proposal in the group of its file, or where it already is, at its first change. */
  async show(id: string, { focus, background }: { focus: boolean; background: boolean }): Promise<void> {
    const entry = this.byId(id);
    if (entry === undefined) return;
    const { uri, merged, path, title } = entry;
    const shown = this.tabsOf(id)[0];
    // The person's typing is kept although they closed the tab without saving it.
    if (shown === undefined) await this.files.set(uri, this.withEol(entry, merged.text));
    const group = shown?.group ?? allTabs().find(({ input }) => input instanceof vscode.TabInputText && input.uri.fsPath === path)?.group;
    const first = new vscode.Position(merged.hunks[0]?.from ?? 0, 0);
    const options = {
      preview: false,
      preserveFocus: !focus,
      override: "default",
      background: background && !focus,
      ...(group === undefined ? {} : { viewColumn: group.viewColumn }),
      ...(shown === undefined ? { selection: new vscode.Range(first, first) } : {}),
    };
    await vscode.commands.executeCommand("vscode.open", uri, options, title);
    await tabThere(() => this.tabs(id) > 0 || !this.has(id));
    this.refresh();
    setTimeout(() => this.refresh(), buttonsMs);
  }

  tabs(id: string): number {
    return this.tabsOf(id).length;
  }

  /** The proposal that the active editor shows. */
  active(): string | undefined {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    const { input } = activeTab ?? {};
    return input instanceof vscode.TabInputText ? this.entries.get(input.uri.toString())?.id : undefined;
  }

  /** The text that would be written now, with the line endings of the file. */
  draft(id: string): string | undefined {
    const entry = this.byId(id);
    return entry === undefined ? undefined : this.withEol(entry, entry.merged.draft);
  }

  /** The last line of the undecided changes in the document of a proposal, from 1; undefined for other documents. */
  lastChanged({ uri }: vscode.TextDocument): number | undefined {
    const entry = this.entries.get(uri.toString());
    return entry && (entry.merged.hunks.at(-1)?.to ?? 1);
  }

  /** The text that has a line of a document, and the line there; both from 0. */
  sideAt(uri: vscode.Uri, line: number): { side: "original" | "modified"; line: number } | undefined {
    return this.entries.get(uri.toString())?.merged.sideAt(line);
  }

  lock(id: string, why: string): void {
    const entry = this.byId(id);
    if (entry === undefined) return;
    entry.locked = why;
    this.headers.lock(entry.uri, why);
    this.refresh();
  }

  /** Closes the tabs of a proposal without a question, also one that the window reports late, after the proposal's end. */
  async hide(id: string): Promise<void> {
    const uri = this.byId(id)?.uri;
    // From here on nothing that happens to the text is the person's.
    if (uri !== undefined) this.drop(uri);
    await this.closeTabs(id);
    this.refresh();
  }

  /** The same, but the person may type until then; the result is the draft. */
  async leave(id: string): Promise<string | undefined> {
    const uri = this.byId(id)?.uri;
    if (uri === undefined) return undefined;
    await this.closeTabs(id);
    await caughtUp();
    const entry = this.byId(id);
    const draft = this.draft(id);
    if (entry !== undefined) this.left.set(id, entry.merged.decided);
    this.drop(uri);
    this.refresh();
    return draft;
  }

  /** The contents of a finished proposal are no longer needed. */
  forget(path: string, id: string): void {
    const uri = reviewUri(inlineScheme, path, id);
    this.left.delete(id);
    this.saves.remove(uri);
    this.files.remove(uri);
  }

  /** Decides one change: that of a lens, or, from a key, that at the cursor. */
  async decide(what: What, id?: unknown, line?: unknown, key?: unknown): Promise<void> {
    const entry = this.byId(typeof id === "string" ? id : (this.active() ?? ""));
    if (entry === undefined || entry.locked !== "" || !entry.proposer.ready()) return;
    const hunk = typeof line === "number" ? entry.merged.find(String(key), line) : entry.merged.near(this.cursor(entry));
    // The lens that was clicked may be older than the text.
    if (hunk === undefined) return this.refresh();
    if (entry.fixed) return void entry.proposer.decided(what === "accept" ? "" : entry.original);
    await this.become(entry, entry.merged.decide(hunk, what));
    void this.settle(entry);
    this.goTo(entry, entry.merged.near(hunk.from));
  }

  /** Decides all that is left. */
  async decideAll(id: string, what: What): Promise<void> {
    const entry = this.byId(id);
    if (entry === undefined || entry.locked !== "" || !entry.proposer.ready()) return;
    await this.become(entry, entry.merged.decideAll(what));
    void this.settle(entry);
  }

  /** Moves the cursor to the next change, or the one before. */
  go(step: 1 | -1): void {
    const entry = this.byId(this.active() ?? "");
    if (entry === undefined) return;
    const { hunks } = entry.merged;
    const line = this.cursor(entry);
    const next = step === 1 ? hunks.find(({ from }) => from > line) : hunks.findLast(({ to }) => to <= line);
    this.goTo(entry, next ?? hunks.at(step === 1 ? 0 : -1));
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const entry = this.entries.get(document.uri.toString());
    if (entry === undefined) return [];
    const { hunks } = entry.merged;
    const row = this.headers.row(entry.uri, hunks.length);
    const first = hunks[0]?.from ?? 0;
    // Without a change left, and with just one, the answers to the edit are those to the change.
    if (hunks.length < 2 || entry.locked !== "") return toLenses(first, row);
    return [...toLenses(Math.max(first - 1, 0), row), ...hunks.flatMap((hunk) => toLenses(hunk.from, this.answers(entry, hunk)))];
  }

  private answers({ merged, id, proposer }: Entry, hunk: Hunk): Lens[] {
    const lines = (kind: "added" | "removed"): string => cap(merged.lines.slice(hunk.from, hunk.to).filter((_, at) => merged.kinds[hunk.from + at] === kind).join("\n"), tooltipMax);
    const lens = (title: string, what: What, tooltip: string): Lens => ({
      title,
      tooltip,
      // Not yet to be clicked, it has its place already.
      ...(proposer.ready() ? { command: `agent.inline.${what}Change`, arguments: [id, hunk.from, merged.key(hunk)] } : {}),
    });
    return [lens(`$(check) ${vscode.l10n.t("Accept")}`, "accept", lines("added")), lens(`$(close) ${vscode.l10n.t("Reject")}`, "reject", lines("removed"))];
  }

  dispose(): void {
    for (const each of [...this.listeners, this.styles.added, this.styles.removed, this.lenses]) each.dispose();
  }

  private drop(uri: vscode.Uri): void {
    this.entries.delete(uri.toString());
    this.headers.remove(uri);
    this.checks.remove(uri);
  }

  private closeTabs(id: string): Promise<void> {
    const text = (): vscode.TextDocument | undefined => vscode.workspace.textDocuments.find(({ uri }) => isOf(uri, id));
    return closeTabs(() => this.tabsOf(id), async () => {
      await this.restoring;
      await saveTyped(caughtUp, () => this.files.unsaved(text()));
    });
  }

  private byId(id: string): Entry | undefined {
    return [...this.entries.values()].find((entry) => entry.id === id);
  }

  private tabsOf(id: string): vscode.Tab[] {
    return allTabs().filter(({ input }) => input instanceof vscode.TabInputText && isOf(input.uri, id));
  }

  private cursor({ uri }: Entry): number {
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
    return editor?.selection.active.line ?? 0;
  }

  private goTo({ uri }: Entry, hunk: Hunk | undefined): void {
    const editor = vscode.window.activeTextEditor;
    if (hunk === undefined || editor?.document.uri.toString() !== uri.toString()) return;
    const start = new vscode.Position(hunk.from, 0);
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Makes the document show another state, after any typing at the same instant. */
  private async become(entry: Entry, next: Merged): Promise<void> {
    const document = await vscode.workspace.openTextDocument(entry.uri);
    if (!this.has(entry.id)) return;
    if (toLf(document.getText()) === next.text) this.take(entry, next);
    else {
      entry.next = next;
      this.saves.drop(entry.uri);
      await replaceAll(document, this.withEol(entry, next.text));
      entry.next = undefined;
    }
  }

  private changed(event: vscode.TextDocumentChangeEvent): void {
    const { document, reason, contentChanges } = event;
    const entry = this.entries.get(document.uri.toString());
    if (entry === undefined || contentChanges.length === 0 || this.saves.isSaves(event)) return;
    const text = toLf(document.getText());
    if (text === entry.merged.text) return;
    // An undo, or a tab that was closed without saving, brings back an earlier state.
    const earlier = reason !== undefined || !document.isDirty ? entry.states.get(text) : undefined;
    const edits = contentChanges.map(({ range: { start, end }, text }) => ({
      startLine: start.line,
      startCharacter: start.character,
      endLine: end.line,
      endCharacter: end.character,
      text,
    }));
    const next = entry.next?.text === text ? entry.next : (earlier ?? (entry.locked === "" ? entry.merged.edited(edits) : undefined));
    if (next?.text === text) return this.take(entry, next);
    void vscode.window.setStatusBarMessage(entry.locked === ""
        ? vscode.l10n.t("Red lines are the file's current text. They cannot be changed here: use Show as Diff to edit freely.")
        : vscode.l10n.t("This edit is {0}", entry.locked), 5_000);
    this.restoring = Promise.allSettled([replaceAll(document, this.withEol(entry, entry.merged.text))]);
  }

  private take(entry: Entry, next: Merged): void {
    entry.merged = next;
    entry.states.add(next);
    this.headers.move(entry.uri, next.hunks[0]?.from);
    this.mark(entry);
    entry.proposer.changed(this.withEol(entry, next.draft));
    this.refresh();
  }

  /** Reports that everything is decided. The answer may be refused: then everything is undecided again. */
  private async settle(entry: Entry): Promise<void> {
    if (entry.merged.hunks.length > 0) return;
    const taken = await entry.proposer.decided(this.withEol(entry, entry.merged.draft));
    // A text that is about to be saved and closed must not change any more.
    if (!taken && this.has(entry.id)) await this.become(entry, Merged.of(entry.original, entry.merged.draft));
  }

  private withEol({ original }: Entry, text: string): string {
    return original.includes("\r\n") ? withEol(text, "crlf") : text;
  }

  refresh(): void {
    this.lenses.fire();
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === inlineScheme)) {
      const merged = this.entries.get(editor.document.uri.toString())?.merged;
      for (const kind of ["added", "removed"] as const) {
        const lines = [...(merged?.kinds.entries() ?? [])].filter(([, each]) => each === kind);
        editor.setDecorations(this.styles[kind], lines.map(([line]) => new vscode.Range(line, 0, line, 0)));
      }
    }
  }
}

/** Keeps those who check programs from the text of a proposal, which has the lines before and after each change. */
async function plain(document: vscode.TextDocument): Promise<void> {
  const language = `${mergedLanguage}${document.languageId}`;
  if (document.uri.scheme !== inlineScheme || !(await vscode.languages.getLanguages()).includes(language) || document.isClosed) return;
  await vscode.languages.setTextDocumentLanguage(document, language);
}

/** Whether a document is the text of a proposal. */
function isOf({ scheme, query }: vscode.Uri, id: string): boolean {
  return scheme === inlineScheme && query === id;
}

function lineStyle(sign: string, color: "inserted" | "removed", ruler: "added" | "deleted"): vscode.TextEditorDecorationType {
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><text x="4" y="13" font-family="monospace" font-size="14" fill="${color === "inserted" ? "#3a9d4b" : "#d1453b"}">${sign}</text></svg>`;
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(`diffEditor.${color}LineBackground`),
    // High-contrast themes have no background for lines; in others the border is transparent.
    border: "1px dashed",
    borderColor: new vscode.ThemeColor(`agent.${color}LineBorder`),
    overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${ruler}Foreground`),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(drawn).toString("base64")}`),
    gutterIconSize: "contain",
  });
}
