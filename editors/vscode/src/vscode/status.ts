import * as vscode from "vscode";
import type { Client, ClientStatus, Notices } from "../core/ports";
import { isPending } from "../core/review";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { withoutIcons } from "../core/text";
import { describe } from "./pending";

/** The most names in a hover. */
const namesMax = 10;

type Connected = Client & { readonly status?: ClientStatus };
type Link = { readonly kind: "off" } | { readonly kind: "on"; readonly port: number } | { readonly kind: "failed"; readonly why: string };

const icons: Record<ClientStatus["state"], string> = {
  idle: "$(plug)",
  working: "$(sync~spin)",
  waiting: "$(bell)",
  error: "$(warning)",
};

/** The entry in the status bar: the waiting reviews, the work of the agents, and the link to them. */
export class Status implements Omit<Notices, "mayRun">, vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("agent.link", vscode.StatusBarAlignment.Left, -10);
  private state: Link = { kind: "off" };
  private clients: readonly Connected[] = [];
  private waiting: readonly ReviewInfo[] = [];
  /** Called with the clients when they, or their states, change. */
  onClients: (clients: readonly Connected[]) => void = () => undefined;

  constructor() {
    this.item.name = "Agent";
    this.draw();
    this.item.show();
  }

  warn(message: string): void {
    void vscode.window.showWarningMessage(message);
  }

  clientsChanged(clients: readonly Connected[]): void {
    this.clients = clients;
    this.onClients(clients);
    if (this.linked().length > 0) void vscode.commands.executeCommand("setContext", "agent.hasLinked", true);
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
    this.waiting = reviews.list().filter(isPending);
    void vscode.commands.executeCommand("setContext", "agent.pendingReviews", this.waiting.length);
    this.draw();
  }

  dispose(): void {
    this.item.dispose();
  }

  private draw(): void {
    const { state } = this;
    switch (state.kind) {
      case "off":
        return this.show("$(circle-slash) Agent", [vscode.l10n.t("Agent: not listening. Click to start.")], "agent.start");
      case "failed":
        return this.show("$(warning) Agent", [vscode.l10n.t("Agent: {0}. Click to try again.", state.why)], "agent.start");
      case "on":
        return this.drawOn(state.port);
    }
  }

  private drawOn(port: number): void {
    const linked = this.linked();
    const callers = this.callers().map((client) => lineOf(client));
    const first = mostUrgent(linked);
    const who = first === undefined ? [vscode.l10n.t("No agent is connected. Click to start one in a terminal.")] : linked.map((client) => lineOf(client));
    const lines = [...who, ...callers, vscode.l10n.t("Port {0}.", port)];
    const count = this.waiting.length;
    if (count > 0) {
      const names = this.waiting.slice(0, namesMax).map(describe);
      const more = count > namesMax ? [vscode.l10n.t("{0} more", count - namesMax)] : [];
      return this.show(`$(bell-dot) Agent: ${vscode.l10n.t("{0} to review", count)}`, [...names, ...more, vscode.l10n.t("Click to show the next one."), ...lines], "agent.nextReview", true);
    }
    if (first === undefined) return this.show("$(debug-disconnect) Agent", lines, "agent.startInTerminal");
    const state = first.status?.state ?? "idle";
    const text = withoutIcons(first.status?.text ?? "");
    const more = linked.length > 1 ? ` (${linked.length})` : "";
    this.show(`${icons[state]} Agent${text === "" ? "" : `: ${text}`}${more}`, lines, state === "waiting" ? "agent.showQuestion" : "agent.showLog", state === "waiting");
  }

  /** Those that hold a connection. */
  private linked(): readonly Connected[] {
    return this.clients.filter(({ heard }) => heard === undefined);
  }

  /** Those that only call now and then, which nobody sees go. */
  private callers(): readonly Connected[] {
    return this.clients.filter(({ heard }) => heard !== undefined);
  }

  private show(text: string, lines: readonly string[], command: string, waits = false): void {
    const tooltip = new vscode.MarkdownString();
    for (const line of lines) tooltip.appendText(line).appendMarkdown("\n\n");
    const link = (title: string, name: string): string => `[${title}](command:${name})`;
    tooltip.appendMarkdown([link(vscode.l10n.t("Edits to Review"), "agent.reviews.focus"), link(vscode.l10n.t("Show Log"), "agent.showLog"), link(vscode.l10n.t("Status"), "agent.status")].join(" · "));
    tooltip.isTrusted = { enabledCommands: ["agent.reviews.focus", "agent.showLog", "agent.status"] };
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.backgroundColor = waits ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    // A screen reader says the icons' names otherwise.
    this.item.accessibilityInformation = { label: [text.replace(/\$\([a-z~-]+\) /, ""), ...lines].join(". "), role: "button" };
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
