import { createHash } from "node:crypto";
import { extname } from "node:path";
import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import type { Languages as LookUps, LookUp } from "../core/ports";
import { isObject } from "../core/schema";
import type { Languages } from "./languages";
import type { Places } from "./places";

type Params = Record<string, unknown>;

const placesMax = 1_000;
const lineMax = 300;
const actionsMax = 50;
/** For how long a provider may be on its way: an extension begins with the first text of its language. */
const beginMs = 5_000;
const lookMs = 100;
/** An answer is not believed to be empty before: servers read a text that they just got beside the first requests. */
const settleMs = 1_500;
/** Of how many files the languages of the project are known, and how many texts are loaded for them. */
const filesMax = 500;
const loadedMax = 8;
/** Kinds of this protocol count from 1, those of the editor from 0. */
const kindBase = 1;

/** Answers from the editor's own providers. It applies nothing. */
export class ProvidedLookUps implements LookUps {
  constructor(
    private readonly places: Places,
    private readonly languages: Languages,
  ) {}

  async lookUp(method: LookUp, params: Params): Promise<{ readonly result: unknown } | undefined> {
    if (method === "workspace/symbol") return { result: await this.symbols(typeof params["query"] === "string" ? params["query"] : "") };
    const document = await this.document(params);
    if (!this.languages.serves(document.languageId)) return undefined;
    const outline = await begun(document.uri);
    if (outline === undefined) return undefined;
    if (method !== "textDocument/documentSymbol") await projectRead(document.uri);
    return { result: await this.about(document, method, params, outline) };
  }

  private about(document: vscode.TextDocument, method: Exclude<LookUp, "workspace/symbol">, params: Params, outline: readonly Outlined[]): Promise<unknown> {
    switch (method) {
      case "textDocument/documentSymbol":
        return Promise.resolve(outline.map(toSymbol));
      case "textDocument/definition":
        return located("vscode.executeDefinitionProvider", document.uri, placeIn(document, params));
      case "textDocument/references":
        return located("vscode.executeReferenceProvider", document.uri, placeIn(document, params));
      case "textDocument/rename":
        return renamed(document, params);
      case "textDocument/codeAction":
        return offered(document, params);
    }
  }

  private async document(params: Params): Promise<vscode.TextDocument> {
    const { textDocument } = params;
    const uri = isObject(textDocument) && typeof textDocument["uri"] === "string" ? textDocument["uri"] : "";
    if (!uri.startsWith("file:")) throw new ToolError("INVALID_PARAMS", "params.textDocument.uri must be the URI of a file");
    return vscode.workspace.openTextDocument(this.places.uri(uri));
  }

  private async symbols(query: string): Promise<unknown> {
    await this.loadSome();
    const found = await settled<vscode.SymbolInformation>(() => vscode.commands.executeCommand("vscode.executeWorkspaceSymbolProvider", query));
    const inFiles = found.filter(({ location }) => location.uri.scheme === "file").slice(0, placesMax);
    return inFiles.map(({ name, kind, containerName, location }) => ({ name, kind: kind + kindBase, containerName, location: toLocation(location) }));
  }

  /** Loads a text of each language of the project: servers know a project by its texts. */
  private async loadSome(): Promise<void> {
    const files = await vscode.workspace.findFiles("**/*", "**/{node_modules,.git,.venv}/**", filesMax);
    const byEnding = new Map(files.map((uri) => [extname(uri.path), uri]));
    const served = [...byEnding].filter(([ending]) => this.languages.servesEnding(ending)).slice(0, loadedMax);
    const load = async (uri: vscode.Uri): Promise<void> => {
      await vscode.workspace.openTextDocument(uri);
      if ((await begun(uri)) !== undefined) await projectRead(uri);
    };
    await Promise.allSettled(served.map(([, uri]) => load(uri)));
  }
}

type Outlined = vscode.DocumentSymbol | vscode.SymbolInformation;

/** The names of a text, once somebody provides them; undefined if nobody does. */
async function begun(uri: vscode.Uri): Promise<readonly Outlined[] | undefined> {
  for (const end = Date.now() + beginMs; ; await pause()) {
    const found = await vscode.commands.executeCommand<Outlined[] | undefined>("vscode.executeDocumentSymbolProvider", uri);
    if (found !== undefined || Date.now() >= end) return found;
  }
}

/**
 * Resolves once the project of a text is read. While it is not, TypeScript answers from single texts, as if these were
 * all; but not a question about callers, which waits.
 */
async function projectRead(uri: vscode.Uri): Promise<void> {
  await vscode.commands.executeCommand("vscode.prepareCallHierarchy", uri, new vscode.Position(0, 0)).then(undefined, () => undefined);
}

async function settled<T>(ask: () => Thenable<T[] | undefined>): Promise<readonly T[]> {
  for (const end = Date.now() + settleMs; ; await pause()) {
    const found = (await ask()) ?? [];
    if (found.length > 0 || Date.now() >= end) return found;
  }
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, lookMs));
}

/** The place that is asked about: the line with the text that the client knows, which may have moved. */
function placeIn(document: vscode.TextDocument, params: Params): vscode.Position {
  const { position, lineText } = params;
  const { line, character } = isObject(position) ? position : {};
  if (!isCount(line) || !isCount(character)) throw new ToolError("INVALID_PARAMS", "params.position must have line and character");
  return new vscode.Position(lineOf(document, line, lineText), character);
}

function lineOf(document: vscode.TextDocument, line: number, text: unknown): number {
  if (typeof text !== "string") return line;
  for (let off = 0; off < document.lineCount; off++) {
    for (const at of [line - off, line + off]) {
      if (at >= 0 && at < document.lineCount && document.lineAt(at).text === text) return at;
    }
  }
  throw new ToolError("STALE_BASE", "the text has no such line here: it has unsaved changes, or was changed on disk");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

async function located(command: string, uri: vscode.Uri, at: vscode.Position): Promise<unknown> {
  const found = await settled<vscode.Location | vscode.LocationLink>(() => vscode.commands.executeCommand(command, uri, at));
  const inFiles = found.map(plainly).filter((each) => each.uri.scheme === "file");
  return Promise.all(
    inFiles.slice(0, placesMax).map(async (each) => ({ ...toLocation(each), lineText: await lineAt(each.uri, each.range.start.line) })),
  );
}

function plainly(each: vscode.Location | vscode.LocationLink): vscode.Location {
  return "targetUri" in each ? new vscode.Location(each.targetUri, each.targetSelectionRange ?? each.targetRange) : each;
}

async function lineAt(uri: vscode.Uri, line: number): Promise<string> {
  const document = await vscode.workspace.openTextDocument(uri);
  return line < document.lineCount ? document.lineAt(line).text.slice(0, lineMax) : "";
}

async function renamed(document: vscode.TextDocument, params: Params): Promise<unknown> {
  const name = params["newName"];
  if (typeof name !== "string") throw new ToolError("INVALID_PARAMS", "params.newName must be a string");
  try {
    const { uri, range } = await defined(document, placeIn(document, params));
    const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>("vscode.executeDocumentRenameProvider", uri, range.start, name);
    return edit === undefined ? {} : await toEdit(edit);
  } catch (thrown: unknown) {
    throw thrown instanceof ToolError ? thrown : new ToolError("INVALID_PARAMS", thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** The definition of the name at a place, if it has the same name: a rename elsewhere may make an alias of it instead. */
async function defined(document: vscode.TextDocument, at: vscode.Position): Promise<vscode.Location> {
  const here = new vscode.Location(document.uri, at);
  const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[] | undefined>("vscode.executeDefinitionProvider", document.uri, at);
  const [only, another] = (found ?? []).map(plainly);
  if (only === undefined || another !== undefined || only.uri.scheme !== "file") return here;
  const there = await vscode.workspace.openTextDocument(only.uri);
  const isSame = wordAt(there, only.range.start) === wordAt(document, at) && vscode.workspace.getWorkspaceFolder(only.uri) !== undefined;
  return isSame ? only : here;
}

function wordAt(document: vscode.TextDocument, at: vscode.Position): string | undefined {
  const range = document.getWordRangeAtPosition(at);
  return range && document.getText(range);
}

async function offered(document: vscode.TextDocument, params: Params): Promise<unknown> {
  const { range, lineText } = params;
  const start = isObject(range) && isObject(range["start"]) ? range["start"]["line"] : undefined;
  if (!isCount(start)) throw new ToolError("INVALID_PARAMS", "params.range must have a line");
  const line = document.lineAt(lineOf(document, start, lineText));
  const found = await vscode.commands.executeCommand<(vscode.CodeAction | vscode.Command)[] | undefined>(
    "vscode.executeCodeActionProvider",
    document.uri,
    line.range,
    undefined,
    actionsMax,
  );
  const changes = (found ?? []).filter((each): each is vscode.CodeAction => "edit" in each && each.edit instanceof vscode.WorkspaceEdit && each.edit.size > 0);
  const described = await Promise.allSettled(changes.map(async ({ title, kind, edit }) => ({ title, kind: kind?.value ?? "", edit: await toEdit(edit) })));
  return described.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])); // not those that make files
}

/** An edit with, for each text, the hash of its lines, and the text itself if it is not saved. */
async function toEdit(edit: vscode.WorkspaceEdit | undefined): Promise<unknown> {
  const documentChanges: object[] = [];
  for (const [uri, edits] of edit?.entries() ?? []) {
    if (uri.scheme !== "file") throw new ToolError("INVALID_PARAMS", `it would change ${uri.scheme}:, which is no file`);
    const document = await vscode.workspace.openTextDocument(uri);
    const body = document.getText();
    const eol = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
    const changes = edits.map(({ range, newText }) => ({ range: toRange(range), newText: newText.replace(/\r\n|\r|\n/g, eol) }));
    const sha256 = createHash("sha256").update(body.replace(/\r\n|\r/g, "\n")).digest("hex");
    documentChanges.push({ textDocument: { uri: uri.toString(), sha256, ...(document.isDirty ? { text: body } : {}) }, edits: changes });
  }
  if ((edit?.size ?? 0) > documentChanges.length) throw new ToolError("INVALID_PARAMS", "it would make, move or remove files, which the editor does not describe");
  return { documentChanges };
}

function toSymbol(each: Outlined): object {
  const { name, kind } = each;
  const plain = { name, kind: kind + kindBase };
  if (!("selectionRange" in each)) return { ...plain, containerName: each.containerName, location: toLocation(each.location) };
  return { ...plain, selectionRange: toRange(each.selectionRange), children: each.children.map(toSymbol) };
}

function toLocation({ uri, range }: vscode.Location): { uri: string; range: object } {
  return { uri: uri.toString(), range: toRange(range) };
}

function toRange({ start, end }: vscode.Range): object {
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}
