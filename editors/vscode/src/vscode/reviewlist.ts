import { dirname } from "node:path";
import * as vscode from "vscode";
import type { Client } from "../core/ports";
import { isPending } from "../core/review";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { describe, marksOf } from "./pending";
import { ask, confirmAll, named } from "./questions";
import type { Together } from "./multidiff";
import type { Seen } from "./seen";
import { proposalUri } from "./uri";

const viewId = "agent.reviews";

/** An edit in the list; commands get it as their argument. */
interface Entry {
  readonly id: string;
  readonly resourceUri: vscode.Uri;
}

/** The edits of one answer. */
interface Group {
  readonly turn: string;
  /** For the commands that answer one edit: those of all. */
  readonly reviews: readonly ReviewInfo[];
}

/** The number of decisions since the list was empty. */
interface Footer {
  readonly decided: string;
}

type Row = Entry | Group | Footer;

/** The edits that wait for an answer, in a view of their own, and the answers to all of them. */
export class ReviewList implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view = vscode.window.createTreeView<Row>(viewId, { treeDataProvider: this });
  private readonly parts: vscode.Disposable[];
  private working: readonly Client[] = [];
  private decided = { accepted: 0, rejected: 0 };
  /** The reviews whose end was counted, and the answers that were brought to the front. */
  private readonly counted = new Set<string>();
  private revealed: string | undefined;

  constructor(
    private readonly reviews: Reviews,
    private readonly seen: Seen,
    private readonly together: Together,
  ) {
    const groupOf = (row: unknown): readonly ReviewInfo[] => (isGroup(row) ? row.reviews : []);
    this.parts = [
      this.view,
      seen.onSeen(() => this.changes.fire(undefined)),
      vscode.commands.registerCommand("agent.acceptAll", () => this.acceptAll(this.pending())),
      vscode.commands.registerCommand("agent.rejectAll", () => this.rejectAll(this.pending())),
      vscode.commands.registerCommand("agent.showTogether", (row) => this.together.show(isGroup(row) ? row.reviews : this.firstTurn())),
      vscode.commands.registerCommand("agent.acceptGroup", (row) => this.acceptAll(groupOf(row))),
      vscode.commands.registerCommand("agent.rejectGroup", (row) => this.rejectAll(groupOf(row))),
    ];
  }

  changed({ id, state, outcome, turn }: ReviewInfo): void {
    const count = this.pending().length;
    if (state === "done") this.seen.forget(id);
    if (outcome !== undefined && !this.counted.has(id)) {
      this.counted.add(id);
      if (outcome.kind === "accepted") this.decided.accepted++;
      else if (outcome.kind === "rejected") this.decided.rejected++;
    }
    if (state === "done" && count === 0) this.startAnew();
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: vscode.l10n.t("{0} to review", count) };
    this.view.title = count === 0 ? vscode.l10n.t("Edits to Review") : vscode.l10n.t("To Review ({0})", count);
    this.sayWorking();
    this.changes.fire(undefined);
    if (turn !== undefined && turn.total > turnMax && state === "shown" && this.revealed !== turn.key) void this.show(turn.key);
  }

  /** Names the agents that work, in place of an empty page. */
  clientsChanged(clients: readonly Client[]): void {
    this.working = clients.filter(({ status }) => status?.state === "working");
    this.sayWorking();
  }

  private sayWorking(): void {
    const working = this.pending().length > 0 ? [] : this.working;
    // An empty text would keep the welcome page away.
    const view: { message?: string | undefined } = this.view;
    view.message = working.length === 0 ? undefined : working.map(({ name, status }) => vscode.l10n.t("{0} is working: {1}", name, status?.text ?? "")).join("\n");
  }

  getChildren(row?: Row): Row[] {
    if (row !== undefined) return isGroup(row) ? row.reviews.map(toEntry) : [];
    const pending = this.pending();
    const rows: Row[] = [];
    for (const review of pending) {
      const turn = review.turn?.key;
      const own = pending.filter((each) => each.turn?.key === turn);
      if (turn === undefined || own.length === 1) rows.push(toEntry(review));
      else if (own[0] === review) rows.push({ turn, reviews: own });
    }
    const { accepted, rejected } = this.decided;
    if (pending.length > 0 && accepted + rejected > 0) rows.push({ decided: vscode.l10n.t("Decided: {0} accepted, {1} rejected", accepted, rejected) });
    return rows;
  }

  getParent(row: Row): Row | undefined {
    return "id" in row ? this.getChildren().find((each) => isGroup(each) && each.reviews.some(({ id }) => id === row.id)) : undefined;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    if ("decided" in row) return { ...new vscode.TreeItem(row.decided), id: "decided", iconPath: new vscode.ThemeIcon("history") };
    return isGroup(row) ? this.groupItem(row) : this.entryItem(row);
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
    this.changes.dispose();
  }

  private startAnew(): void {
    this.decided = { accepted: 0, rejected: 0 };
    this.counted.clear();
    this.revealed = undefined;
  }

  private firstTurn(): readonly ReviewInfo[] {
    const pending = this.pending();
    const turn = pending[0]?.turn?.key;
    return turn === undefined ? pending : pending.filter((each) => each.turn?.key === turn);
  }

  /** An answer of many edits: the list comes to the front, without the focus. */
  private async show(turn: string): Promise<void> {
    this.revealed = turn;
    const group = this.getChildren().find((row) => isGroup(row) && row.turn === turn);
    if (group !== undefined) await this.view.reveal(group, { select: false, focus: false, expand: true });
  }

  private groupItem({ turn, reviews }: Group): vscode.TreeItem {
    const [first] = reviews;
    const label = first === undefined || first.description === "" ? vscode.l10n.t("One answer") : first.description;
    const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
    const counts = reviews.map(({ id }) => this.reviews.counts(id));
    const sum = (of: "added" | "removed"): number => counts.reduce((all, each) => all + each[of], 0);
    item.id = `turn ${turn}`;
    item.description = [first?.asks ?? "", `+${sum("added")} −${sum("removed")}`].filter((each) => each !== "").join(" · ");
    item.tooltip = label;
    item.contextValue = "turn";
    item.iconPath = new vscode.ThemeIcon("comment-discussion");
    return item;
  }

  private entryItem({ id, resourceUri }: Entry): vscode.TreeItem {
    const item = new vscode.TreeItem(resourceUri);
    item.id = id;
    item.contextValue = "review";
    item.command = { title: vscode.l10n.t("Show Diff"), command: "agent.showReview", arguments: [id] };
    const review = this.reviews.get(id);
    if (review === undefined) return item;
    const { added, removed } = this.reviews.counts(id);
    const folder = dirname(vscode.workspace.asRelativePath(review.path));
    const isSeen = this.seen.has(id);
    const facts = [`+${added} −${removed}`, ...(folder === "." ? [] : [folder]), ...marksOf(review)];
    item.description = facts.join(" · ");
    item.tooltip = [describe(review), review.description, isSeen ? "" : vscode.l10n.t("Not looked at yet")].filter((each) => each !== "").join("\n");
    item.iconPath = review.stale ? new vscode.ThemeIcon("warning") : new vscode.ThemeIcon(isSeen ? "circle-filled" : "circle-outline");
    item.accessibilityInformation = { label: [describe(review), isSeen ? vscode.l10n.t("looked at") : vscode.l10n.t("not looked at yet"), ...facts].join(", ") };
    return item;
  }

  private pending(): readonly ReviewInfo[] {
    return this.reviews.list().filter(isPending);
  }

  /** Accepts the edits that the person has had on the screen, or all of them, as they choose; else shows the first of the others. The question has those that have only just appeared, too. */
  private async acceptAll(pending: readonly ReviewInfo[]): Promise<void> {
    const free = pending.filter(({ held, isPlan }) => !held && !isPlan);
    if (pending.length === 0) return tell(vscode.l10n.t("No edit waits for your review."));
    if (free.length === 0) return tell(vscode.l10n.t("Accept All skips plans and edits that are being changed in the terminal. Answer those one by one."));
    const [ready, unseen] = [free.filter(({ id }) => this.seen.has(id)), free.filter(({ id }) => !this.seen.has(id))];
    const answer = await confirmAll(free.map((review) => `${ready.includes(review) ? "●" : "○"} ${describe(review)}`), ready.length);
    if (answer === "look" && unseen[0] !== undefined) return this.reviews.show(unseen[0].id);
    const accepted = answer === "all" ? free : answer === "seen" ? ready : [];
    for (const { id } of accepted.filter(({ id }) => this.reviews.isReady(id))) this.reviews.accept(id, "command");
  }

  /** Rejects reviews, likewise. */
  private async rejectAll(pending: readonly ReviewInfo[]): Promise<void> {
    const free = pending.filter(({ held }) => !held);
    if (pending.length === 0) return tell(vscode.l10n.t("No edit waits for your review."));
    if (free.length === 0) return tell(vscode.l10n.t("This edit is being changed in the terminal. Finish there first."));
    const reject = vscode.l10n.t("Reject");
    if ((await ask(rejectQuestion(free.length), named(free.map(describe)), [reject])) !== reject) return;
    for (const { id } of free.filter(({ id }) => this.reviews.isReady(id))) this.reviews.reject(id, "command");
  }
}

/** More edits of one answer than this are shown as a list. */
const turnMax = 3;

function toEntry(review: ReviewInfo): Entry {
  return { id: review.id, resourceUri: proposalUri(review) };
}

function isGroup(row: unknown): row is Group {
  return typeof row === "object" && row !== null && "turn" in row;
}

function tell(message: string): void {
  void vscode.window.showInformationMessage(message);
}

function rejectQuestion(count: number): string {
  return count === 1 ? vscode.l10n.t("Reject this edit?") : vscode.l10n.t("Reject {0} edits?", count);
}
