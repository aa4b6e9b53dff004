import * as vscode from "vscode";
import type { Client, ClientStatus, CommandQuestion, CommandVerdict, Notices } from "../core/ports";
import { isPending } from "../core/review";
import type { Reviews } from "../core/reviews";
import { withoutIcons } from "../core/text";
import { describe } from "./pending";

type Connected = Client & { readonly status?: ClientStatus };
type Link = { readonly kind: "off" } | { readonly kind: "on"; readonly port: number } | { readonly kind: "failed"; readonly why: string };

const icons: Record<ClientStatus["state"], string> = {
  idle: "$(plug)",
  working: "$(sync~spin)",
  waiting: "$(bell)",
  error: "$(warning)",
};

/** The two entries in the status bar: the link to the agents, and what waits for an answer. */
export class Status implements Notices, vscode.Disposable {
  private readonly link = vscode.window.createStatusBarItem("agent.link", vscode.StatusBarAlignment.Left, -10);
  private readonly pending = vscode.window.createStatusBarItem("agent.pending", vscode.StatusBarAlignment.Left, -11);
  private state: Link = { kind: "off" };
  private clients: readonly Connected[] = [];

  constructor() {
    this.link.name = vscode.l10n.t("Agent: Link");
    this.pending.name = vscode.l10n.t("Agent: Edits to Review");
    this.pending.command = "agent.nextReview";
    this.pending.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.draw();
    this.link.show();
  }

  warn(message: string): void {
    void vscode.window.showWarningMessage(message);
  }

  async mayRun({ client, command, cwd }: CommandQuestion): Promise<CommandVerdict> {
    const where = vscode.workspace.asRelativePath(cwd);
    const run: vscode.MessageItem = { title: vscode.l10n.t("Run") };
    // It takes the place of a button "Cancel", which would be a second one to reject.
    const withReason: vscode.MessageItem = { title: vscode.l10n.t("Reject with Reason…"), isCloseAffordance: true };
    // The first button has the focus: a person who types without having seen the question must not
    // run anything.
    const answer = await vscode.window.showWarningMessage<vscode.MessageItem>(
      vscode.l10n.t("{0} wants to run a command in {1}", client, where),
      { modal: true, detail: command },
      { title: vscode.l10n.t("Reject") },
      run,
      withReason,
    );
    if (answer === run) return { run: true, feedback: "" };
    const feedback = answer === withReason ? await vscode.window.showInputBox({ title: vscode.l10n.t("Reject with a Reason"), prompt: command, ignoreFocusOut: true }) : "";
    return { run: false, feedback: feedback ?? "" };
  }

  clientsChanged(clients: readonly Connected[]): void {
    this.clients = clients;
    this.draw();
  }

  listens(): boolean {
    return this.state.kind === "on";
  }

  /** How the window is connected, as one paragraph. */
  report(): string {
    const { state } = this;
    if (state.kind === "off") return vscode.l10n.t("Agent is not listening.");
    if (state.kind === "failed") return vscode.l10n.t("Agent cannot listen: {0}", state.why);
    const linked = this.linked();
    const who = linked.length === 0 ? [vscode.l10n.t("No agent is connected.")] : linked.map((client) => `${lineOf(client)}.`);
    return [vscode.l10n.t("Agent listens on port {0}.", state.port), ...who, ...this.callers().map((client) => `${lineOf(client)}.`)].join(" ");
  }

  linkChanged(state: Link): void {
    this.state = state;
    void vscode.commands.executeCommand("setContext", "agent.listening", state.kind === "on");
    if (state.kind !== "on") this.clients = [];
    this.draw();
  }

  reviewsChanged(reviews: Reviews): void {
    const waiting = reviews.list().filter(isPending);
    void vscode.commands.executeCommand("setContext", "agent.pendingReviews", waiting.length);
    if (waiting.length === 0) return this.pending.hide();
    this.pending.text = `$(diff) ${vscode.l10n.t("{0} to review", waiting.length)}`;
    this.pending.tooltip = [...waiting.map(describe), "", vscode.l10n.t("Click to show the next one.")].join("\n");
    this.pending.show();
  }

  dispose(): void {
    this.link.dispose();
    this.pending.dispose();
  }

  private draw(): void {
    const { state } = this;
    switch (state.kind) {
      case "off":
        return this.show("$(circle-slash) Agent", vscode.l10n.t("Agent: not listening. Click to start."), "agent.start");
      case "failed":
        return this.show("$(warning) Agent", vscode.l10n.t("Agent: {0}. Click to try again.", state.why), "agent.start");
      case "on":
        return this.drawOn(state.port);
    }
  }

  private drawOn(port: number): void {
    const linked = this.linked();
    const callers = this.callers().map((client) => lineOf(client));
    const first = mostUrgent(linked);
    if (first === undefined) {
      const tooltip = [vscode.l10n.t("Agent: listening on port {0}, no agent connected. Click to start agent in a terminal.", port), ...callers].join("\n");
      return this.show(`$(debug-disconnect) Agent :${port}`, tooltip, "agent.startInTerminal");
    }
    const icon = icons[first.status?.state ?? "idle"];
    const text = withoutIcons(first.status?.text ?? "");
    const more = linked.length > 1 ? ` (${linked.length})` : "";
    const lines = [...linked.map((client) => lineOf(client)), ...callers];
    this.show(`${icon} Agent${text === "" ? ` :${port}` : `: ${text}`}${more}`, [...lines, vscode.l10n.t("Port {0}.", port)].join("\n"), first.status?.state === "waiting" ? "agent.showQuestion" : "agent.showLog");
  }

  /** Those that hold a connection. */
  private linked(): readonly Connected[] {
    return this.clients.filter(({ heard }) => heard === undefined);
  }

  /** Those that only call now and then, which nobody sees go. */
  private callers(): readonly Connected[] {
    return this.clients.filter(({ heard }) => heard !== undefined);
  }

  private show(text: string, tooltip: string, command: string): void {
    this.link.text = text;
    this.link.tooltip = tooltip;
    this.link.command = command;
  }
}

const urgency: readonly ClientStatus["state"][] = ["waiting", "error", "working", "idle"];

/** Of several clients the bar shows the one that needs the person most. */
function mostUrgent(clients: readonly Connected[]): Connected | undefined {
  const rank = ({ status }: Connected): number => urgency.indexOf(status?.state ?? "idle");
  return [...clients].sort((a, b) => rank(a) - rank(b))[0];
}

function lineOf(client: Connected): string {
  if (client.heard !== undefined) return vscode.l10n.t("{0}: an MCP client, last heard at {1}", client.name, new Date(client.heard).toLocaleTimeString());
  const since = new Date(client.since).toLocaleTimeString();
  const connected =
    client.pid === undefined
      ? vscode.l10n.t("{0}: connected since {1}", client.name, since)
      : vscode.l10n.t("{0}: connected since {1}, process {2}", client.name, since, client.pid);
  const said = [client.status?.text, client.status?.tooltip].filter((each) => each !== undefined && each !== "");
  return [connected, ...said].join(". ");
}
