import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { systemClock } from "./core/clock";
import type { Core } from "./core/core";
import { createCore, Stopped } from "./core/core";
import { foldersOf } from "./core/guest/files";
import type { Notices } from "./core/ports";
import { newToken } from "./core/guard";
import { lastingToken } from "./core/mcptokens";
import { sha256 } from "./core/text";
import type { McpPlace } from "./core/mcptokens";
import { Afterwards } from "./vscode/afterwards";
import { Announcer } from "./vscode/announcer";
import { AnswerBar } from "./vscode/answerbar";
import { CheckMarks } from "./vscode/checks";
import { mayRun } from "./vscode/commandquestion";
import { registerCommands } from "./vscode/commands";
import { EditorDiagnostics } from "./vscode/diagnostics";
import { DraftFolder } from "./vscode/draftfiles";
import { Diffs } from "./vscode/diffs";
import { EditorDocuments } from "./vscode/documents";
import { OpenEditors } from "./vscode/editors";
import { watchEditor } from "./vscode/events";
import { GuestQuestions } from "./vscode/guests";
import { Headers } from "./vscode/headers";
import { InlineDocuments } from "./vscode/inlinedocs";
import { InlineReviews } from "./vscode/inlinereviews";
import { KeptDrafts } from "./vscode/keptdrafts";
import { Languages } from "./vscode/languages";
import { ProvidedLookUps } from "./vscode/lookups";
import { Together } from "./vscode/multidiff";
import { Marks } from "./vscode/pending";
import { Places } from "./vscode/places";
import { ReviewList } from "./vscode/reviewlist";
import { Registration } from "./vscode/registration";
import { Remarks } from "./vscode/remarks";
import { preferredPort, settings, workspace } from "./vscode/settings";
import { findRipgrep } from "./vscode/ripgrep";
import { Seen } from "./vscode/seen";
import { Shells } from "./vscode/shells";
import { SideFiles } from "./vscode/sidefiles";
import { SideTexts } from "./vscode/sidetexts";
import { Status } from "./vscode/status";
import { closeOrphans, isOrphan } from "./vscode/tabs";
import { Terminals } from "./vscode/terminals";
import { inlineScheme, originalScheme, planScheme, proposedScheme } from "./vscode/uri";
import { Views } from "./vscode/views";

/** Makes a file for the text that an earlier window left unsaved, until the result is disposed. */
type Adopt = (uri: vscode.Uri) => vscode.Disposable;

const lastPort = "lastPort";
const mcpToken = "mcpToken";
const secretsMs = 2_000;
const orphansMs = 2_000;

/** Things to dispose, in order, with the window. */
let running: Core | undefined;
/** The window goes, and with it everybody's connection. */
let isLeaving = false;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Agent", { log: true });
  const status = new Status();
  const terminals = new Terminals(context.environmentVariableCollection, context.workspaceState);
  const remarks = new Remarks();
  const places = new Places();
  const { views, documents, texts, adopt } = registerFiles(context, remarks);
  const languages = new Languages();
  const shells = new Shells(log, () => settings.terminal());
  const core = compose(context, { log, status, terminals, views, shells, places, languages });
  running = core;
  views.inline.tell(core.reviews);
  remarks.sideAt = (uri, line) => documents.sideAt(uri, line);
  views.headers.tell(({ query }) => core.reviews.get(query) === undefined || core.reviews.isReady(query));
  const kept = core.drafts && new KeptDrafts(core.drafts);
  const registration = new Registration(core, context.globalState, log);
  const link = new Link(context, core, { log, status, terminals, registration });
  const questions = new GuestQuestions(context.globalState, context.workspaceState, () => link.announce());
  terminals.onProgram = (name) => void questions.started(name);
  link.onStart = () => questions.listens();
  const actions = { start: () => link.start(), stop: () => link.stop() };
  const asked = core.reviews.onChange(({ state }) => {
    if (state === "done") void vscode.commands.executeCommand("setContext", "agent.hasReviewed", true);
    if (state === "done") registration.used().catch((error: unknown) => log.warn(`registering: ${String(error)}`));
  });
  context.subscriptions.push(
    { dispose: asked },
    log,
    status,
    terminals,
    languages,
    shells,
    remarks,
    registration.watch(),
    questions,
    watchEditor(core, views),
    showReviews(core, status, views, places),
    new Afterwards({ core, views, terminals, places, showAccepted: () => settings.showAccepted() }),
    registerCommands({ core, views, inline: documents, documents: texts, registration, remarks, status, terminals, log, kept, ...actions }),
  );
  const { onClients } = status;
  status.onClients = (clients) => {
    onClients(clients);
    if (!isLeaving) void questions.clientsChanged(clients);
  };
  // The rest waits for the next tick: activation must not hold the window up.
  const clear = orphanage({ core, views, adopt, log });
  context.subscriptions.push(clear);
  setTimeout(() => void begin(link, core, { terminals, log }, clear.clear), 0);
}

export async function deactivate(): Promise<void> {
  isLeaving = true;
  await running?.stop();
}

async function begin(link: Link, core: Core, { terminals, log }: Pick<Parts, "terminals" | "log">, clear: () => Promise<void>): Promise<void> {
  void terminals.find();
  // A tab that the editor asks about before it closes must not keep the window from listening.
  await Promise.race([clear(), new Promise<void>((done) => systemClock.after(orphansMs, done))]);
  if (settings.autoStart()) return link.start();
  link.withdraw();
  log.info("not listening: agent.autoStart is off (the command Agent: Start Listening starts it)");
  await core.unseenGone().catch((error: unknown) => log.warn(`other windows of these folders: ${String(error)}`));
}

/** Closes the diffs of an earlier window. The editor shows a text that it has kept itself, in a tab of its own, a moment later. */
function orphanage({ core, views, adopt, log }: { core: Core; views: Views; adopt: Adopt; log: vscode.LogOutputChannel }): vscode.Disposable & { clear: () => Promise<void> } {
  const isKnown = (id: string): boolean => core.reviews.get(id) !== undefined || views.inline.has(id);
  const clear = async (): Promise<void> => {
    try {
      await core.drafts?.load();
      const closed = await closeOrphans(isKnown, adopt, (id, text) => core.drafts?.left(id, text));
      if (closed > 0) log.info(`closed ${closed} diffs that an earlier window had left`);
    } catch (error: unknown) {
      log.warn(`closing the diffs that an earlier window had left: ${String(error)}`);
    }
  };
  const late = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
    if (opened.some((tab) => isOrphan(tab, isKnown))) void clear();
  });
  return { clear, dispose: () => void late.dispose() };
}

function registerFiles(context: vscode.ExtensionContext, remarks: Remarks): { views: Views; documents: InlineDocuments; texts: SideTexts; adopt: Adopt } {
  const [originals, proposals, merged] = [new SideFiles(), new SideFiles(), new SideFiles()];
  const reason = new vscode.MarkdownString(vscode.l10n.t("This side is the file as it was when the edit was proposed."));
  const headers = new Headers();
  const [checks, texts] = [new CheckMarks(), new SideTexts()];
  const documents = new InlineDocuments(merged, headers, checks);
  const views = new Views(new Diffs(originals, proposals, remarks, headers, checks), new InlineReviews(documents), headers, () => settings.review());
  context.subscriptions.push(
    documents,
    views.diffs.saves,
    headers,
    checks,
    texts,
    vscode.workspace.registerFileSystemProvider(originalScheme, originals, { isCaseSensitive: true, isReadonly: reason }),
    vscode.workspace.registerFileSystemProvider(proposedScheme, proposals, { isCaseSensitive: true }),
    vscode.workspace.registerFileSystemProvider(planScheme, proposals, { isCaseSensitive: true }),
    vscode.workspace.registerFileSystemProvider(inlineScheme, merged, { isCaseSensitive: true }),
  );
  const adopt: Adopt = (uri) => (uri.scheme === inlineScheme ? merged : proposals).adopt(uri);
  return { views, documents, texts, adopt };
}

interface Shown {
  readonly log: vscode.LogOutputChannel;
  readonly status: Status;
}

interface Parts extends Shown {
  readonly terminals: Terminals;
  readonly views: Views;
  readonly places: Places;
  readonly languages: Languages;
  readonly shells: Shells;
}

function compose(context: vscode.ExtensionContext, parts: Parts): Core {
  const { places } = parts;
  const manifest = context.extension.packageJSON as { version: string };
  return createCore(
    {
      clock: systemClock,
      log: parts.log,
      view: parts.views,
      documents: new EditorDocuments(places, () => settings.showAccepted()),
      diagnostics: new EditorDiagnostics(places, parts.languages),
      languages: new ProvidedLookUps(places, parts.languages),
      editors: new OpenEditors(places),
      workspace,
      settings,
      notices: noticesOf(parts),
      terminals: parts.shells,
      ripgrep: findRipgrep(),
      t: (message, ...args) => vscode.l10n.t(message, ...args),
    },
    {
      version: manifest.version,
      home: process.env["AGENT_HOME"] ?? join(homedir(), ".agent"),
      port: preferredPort(context.workspaceState.get<number>(lastPort)),
      pid: process.pid,
      guestFolders: foldersOf(homedir(), tmpdir(), process.env),
      drafts: new DraftFolder(draftFolder(context)),
      mcpToken: (place) => secretToken(context, parts.log, place),
    },
  );
}

/**
 * The folder for the drafts of this workspace. The editor's own storage for it is not the same
 * after the window is loaded again while the extensions of before live on.
 */
function draftFolder({ globalStorageUri }: vscode.ExtensionContext): string {
  const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
  const places = workspaceFile === undefined ? workspaceFolders.map(({ uri }) => uri) : [workspaceFile];
  return join(globalStorageUri.fsPath, "drafts", sha256(places.join("\n")));
}

function noticesOf({ status, terminals }: Parts): Notices {
  return {
    warn: (message) => status.warn(message),
    mayRun,
    clientsChanged: (clients) => {
      status.clientsChanged(clients);
      void terminals.clientsChanged(clients);
    },
  };
}

/** The token of /mcp. An editor that keeps no secrets, or is slow to give them out, gets a new one. */
async function secretToken({ secrets }: vscode.ExtensionContext, log: vscode.LogOutputChannel, place: McpPlace): Promise<string> {
  const made = newToken();
  const late = new Promise<string>((done) => systemClock.after(secretsMs, () => done(made)));
  const vault = {
    get: async (): Promise<string | undefined> => secrets.get(mcpToken),
    set: async (text: string): Promise<void> => secrets.store(mcpToken, text),
  };
  return Promise.race([lastingToken(vault, place, made), late]).catch((error: unknown) => {
    log.warn(`the token for MCP clients is not kept: ${String(error)}`);
    return made;
  });
}

/** Keeps the lists and marks of reviews up to date. */
function showReviews(core: Core, status: Status, views: Views, places: Places): vscode.Disposable {
  const seen = new Seen((document) => views.diffs.lastChanged(document) ?? views.inline.lastChanged(document));
  const together = new Together(core.reviews, views);
  const list = new ReviewList(core.reviews, seen, together);
  const marks = new Marks(core.reviews, places);
  const bar = new AnswerBar(core.reviews);
  const announcer = new Announcer();
  status.onClients = (clients) => list.clientsChanged(clients);
  views.onActive = (id) => bar.show(id);
  const stop = core.reviews.onChange((review) => {
    list.changed(review);
    marks.changed(review);
    announcer.changed(review);
    views.noteActive();
    bar.show(views.active());
    status.reviewsChanged(core.reviews);
  });
  status.reviewsChanged(core.reviews);
  return vscode.Disposable.from(list, together, seen, bar, announcer, vscode.window.registerFileDecorationProvider(marks), { dispose: stop });
}

/** Starts to listen, and shows it in the status bar and to the terminals. */
class Link {
  private listening = false;
  /** Brings terminals and files up to date with the settings. */
  announce = (): void => undefined;
  /** Called when it listens. */
  onStart = (): void => undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly core: Core,
    private readonly parts: Shown & { terminals: Terminals; registration: Registration },
  ) {
    core.onUnseen = (back) => void this.rest(back);
  }

  /** Listens to nobody until the window is seen again. */
  private async rest(back: Promise<void>): Promise<void> {
    const stopped = this.stop();
    await back;
    await stopped;
    await this.start();
  }

  async start(): Promise<void> {
    if (this.listening) return;
    this.listening = true;
    const { log, status, terminals } = this.parts;
    try {
      const { port, lockPath } = await this.core.start();
      this.announce = () => {
        if (!this.listening) return;
        terminals.announce(port, lockPath);
        this.core.windowChanged({});
      };
      terminals.announce(port, lockPath);
      this.onStart();
      status.linkChanged({ kind: "on", port });
      await this.context.workspaceState.update(lastPort, port);
      this.parts.registration.started().catch((error: unknown) => log.warn(`registering: ${String(error)}`));
    } catch (error) {
      if (error instanceof Stopped) return; // stop shows that
      this.listening = false;
      this.withdraw();
      const why = error instanceof Error ? error.message : String(error);
      log.error(`cannot listen: ${why}`);
      status.linkChanged({ kind: "failed", why });
    }
  }

  /** Removes the variables that we or an earlier window set for the terminals. */
  withdraw(): void {
    this.parts.terminals.withdraw();
  }

  async stop(): Promise<void> {
    if (!this.listening) return;
    this.listening = false;
    this.withdraw();
    await this.core.stop();
    this.parts.status.linkChanged({ kind: "off" });
  }
}
