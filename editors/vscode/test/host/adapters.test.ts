import * as assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { EditorDocuments } from "../../src/vscode/documents";
import { Places } from "../../src/vscode/places";
import { SideFiles } from "../../src/vscode/sidefiles";
import { programOf } from "../../src/vscode/terminals";
import { reviewId, reviewUri } from "../../src/vscode/uri";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "agent-host-"));
});
afterEach(async () => {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  rmSync(folder, { recursive: true });
});

async function typeInto(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, new vscode.Position(0, 0), text);
  await vscode.workspace.applyEdit(edit);
}

describe("the documents", () => {
  const documents = new EditorDocuments(new Places(), () => false);
  const file = (bytes: Uint8Array | string): string => {
    const path = join(folder, "file.txt");
    writeFileSync(path, bytes);
    return path;
  };

  const cases: { name: string; bytes: Uint8Array | string; text: string; encoding: string; bom: boolean }[] = [
    { name: "plain text", bytes: "a\r\nb", text: "a\r\nb", encoding: "utf8", bom: false },
    { name: "a byte order mark", bytes: "\ufeffa\n", text: "a\n", encoding: "utf8bom", bom: true },
    { name: "UTF-16, little end first", bytes: Buffer.from("\ufeffé\n", "utf16le"), text: "é\n", encoding: "utf16le", bom: true },
    { name: "UTF-16, big end first", bytes: Buffer.from("\ufeffé\n", "utf16le").swap16(), text: "é\n", encoding: "utf16be", bom: true },
    { name: "nothing", bytes: "", text: "", encoding: "utf8", bom: false },
  ];
  for (const { name, bytes, ...expected } of cases) {
    it(`reads ${name}`, async () => {
      const found = await documents.read(file(bytes));
      assert.deepEqual({ text: found.text, encoding: found.encoding, bom: found.bom }, expected);
      assert.equal(found.exists, true);
      assert.equal(found.unreadable, undefined);
    });
  }

  it("reports a binary file", async () => {
    for (const head of ["a", "a".repeat(9_000)]) assert.equal((await documents.read(file(`${head}\0b`))).unreadable, "BINARY_FILE");
  });

  it("reports a missing file", async () => {
    const found = await documents.read(join(folder, "none"));
    assert.equal(found.exists, false);
    assert.match(found.sha256, /^e3b0c442/);
  });

  it("names the encoding of the setting, and of a document that was opened in another", async () => {
    const path = file(new Uint8Array([0x93, 0xfa, 0x0a]));
    assert.equal(await documents.chosen(path), "utf8");
    await vscode.workspace.getConfiguration("files").update("encoding", "windows1252", true);
    assert.equal(await documents.chosen(path), "windows1252");
    await vscode.workspace.openTextDocument(vscode.Uri.file(path), { encoding: "shiftjis" });
    assert.equal(await documents.chosen(path), "shiftjis");
    assert.deepEqual([(await documents.read(path)).text, (await documents.read(path)).encoding], ["日\n", "shiftjis"]);
    await vscode.workspace.getConfiguration("files").update("encoding", undefined, true);
  });

  it("knows an open document by its real path too", async () => {
    const link = join(folder, "link.txt");
    symlinkSync(file("a"), link);
    const real = join(folder, "file.txt");
    assert.equal(documents.buffer(real), undefined);
    const document = await vscode.workspace.openTextDocument(real);
    await typeInto(document, "x");
    assert.deepEqual(documents.buffer(real), { text: "xa", isDirty: true, isUntitled: false, encoding: "utf8" });
    assert.equal(await documents.save(real), true);
    assert.equal(documents.buffer(real)?.isDirty, false);
  });

  it("watches one file whose name holds wildcards", async () => {
    const path = join(folder, "[a]*.txt");
    writeFileSync(path, "1");
    // The watcher starts a while later, so the file changes until it is seen.
    let stop: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (stop = documents.watch(path, resolve)));
    const again = setInterval(() => writeFileSync(path, String(Math.random())), 100);
    await seen.finally(() => clearInterval(again));
    stop();
  });
});

describe("the sides of a diff", () => {
  const scheme = "agent-test";
  const sides = new SideFiles();
  const registered = vscode.workspace.registerFileSystemProvider(scheme, sides, { isCaseSensitive: true });
  after(() => void registered.dispose());
  let number = 0;

  async function shown(text: string, setting?: string): Promise<vscode.TextDocument> {
    if (setting !== undefined) await vscode.workspace.getConfiguration("files").update("encoding", setting, true);
    const uri = reviewUri(scheme, "/x/file.txt", `id${++number}`);
    await sides.add(uri, text);
    return vscode.workspace.openTextDocument(uri);
  }
  afterEach(() => vscode.workspace.getConfiguration("files").update("encoding", undefined, true));

  for (const encoding of ["utf8", "shiftjis", "utf16le", "windows1252"]) {
    it(`are read as they are with files.encoding ${encoding}`, async () => {
      const text = "plain é 漢字 😀\r\nsecond\r\n";
      assert.equal((await shown(text, encoding)).getText(), text);
    });
  }

  it("keep the saved text and lose nothing that the setting's encoding cannot hold", async () => {
    const document = await shown("a\n", "shiftjis");
    await typeInto(document, "😀");
    assert.equal(await document.save(), true);
    assert.equal(new TextDecoder().decode(sides.readFile(document.uri)), "😀a\n");
  });

  it("can be locked", async () => {
    const document = await shown("a\n");
    sides.lock(document.uri, true);
    assert.equal(sides.stat(document.uri).permissions, vscode.FilePermission.Readonly);
    assert.throws(() => sides.writeFile(document.uri, new Uint8Array()), { code: "NoPermissions" });
    sides.lock(document.uri, false);
    assert.equal(sides.stat(document.uri).permissions, undefined);
  });

  it("are gone when removed", async () => {
    const document = await shown("a\n");
    sides.remove(document.uri);
    assert.throws(() => sides.stat(document.uri), { code: "FileNotFound" });
  });
});

describe("the names of reviews", () => {
  it("are in the URIs of both sides only", () => {
    const uri = reviewUri("agent-proposed", "/a b/é#?.ts", "7");
    assert.equal(uri.path, "/a b/é#?.ts");
    assert.equal(reviewId(vscode.Uri.parse(uri.toString())), "7");
    assert.equal(reviewId(vscode.Uri.file("/a").with({ query: "7" })), undefined);
  });
});

describe("the terminal's command line", () => {
  const cases: [string, string][] = [
    ["agent", "agent"],
    ["  agent -c", "agent"],
    ["A=1 B='2' /usr/local/bin/agent -p x", "agent"],
    ['"C:\\bin\\agent.exe" -c', "agent"],
    ["C:\\npm\\gemini.cmd", "gemini"],
    ["agents", "agents"],
    ["echo agent", "echo"],
    ["", ""],
  ];
  for (const [line, expected] of cases) {
    it(`${JSON.stringify(line)} starts ${JSON.stringify(expected)}`, () => {
      assert.equal(programOf(line), expected);
    });
  }
});
