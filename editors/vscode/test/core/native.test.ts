// Rows B2 to B8 and B11 of the designs: the tools for any MCP client, on real files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isAlive, settled, tempFolder, until } from "./fakes";
import { jsonOf, McpClient, shown } from "./httpclient";
import { work } from "./work";
import { WsClient } from "./wsclient";

const block = (search: string, replace: string): string => `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

describe("B2: write_file", () => {
  it("writes what was accepted, and nothing before", async (t) => {
    const { client, folder, read, core, accept } = await work(t);
    const call = client.begin("write_file", { path: "new/deep/a.txt", content: "one\n" });
    await shown(core);
    assert.equal(existsSync(join(folder, "new")), false);
    assert.deepEqual(await accept(call), { status: "accepted", path: "new/deep/a.txt", operation: "created" });
    assert.equal(read("new/deep/a.txt"), "one\n");
  });

  it("gives back the person's edits as a patch that git apply takes", async (t) => {
    const { client, folder, read, accept } = await work(t, { "sub dir/a.txt": "one\ntwo\n" });
    const call = client.begin("write_file", { path: join(folder, "sub dir/a.txt"), content: "ONE\ntwo\nthree\n" });
    const answer = await accept(call, "ONE\nzwei\nthree\nfour");
    assert.deepEqual([answer["status"], answer["operation"]], ["accepted", "modified"]);
    assert.equal(read("sub dir/a.txt"), "ONE\nzwei\nthree\nfour");
    writeFileSync(join(folder, "sub dir/a.txt"), "ONE\ntwo\nthree\n");
    execFileSync("git", ["apply", "-"], { cwd: folder, input: String(answer["user_edits"]) });
    assert.equal(read("sub dir/a.txt"), "ONE\nzwei\nthree\nfour");
  });

  it("says what the person rejected, and why", async (t) => {
    const { client, core, read } = await work(t, { "a.txt": "one\n" });
    const plain = client.begin("write_file", { path: "a.txt", content: "two\n" });
    core.reviews.reject(await shown(core), "button");
    assert.deepEqual(jsonOf(await plain.answer), { status: "rejected", path: "a.txt" });
    assert.notEqual((await plain.answer).isError, true);
    const told = client.begin("write_file", { path: "a.txt", content: "two\n" });
    core.reviews.reject(await shown(core), "button", "keep the name");
    assert.deepEqual(jsonOf(await told.answer), { status: "rejected", path: "a.txt", feedback: "keep the name" });
    assert.equal(read("a.txt"), "one\n");
  });

  it("takes a closed tab for a rejection, whatever the setting says", async (t) => {
    const { client, core, editor } = await work(t, { "a.txt": "one\n" });
    editor.settings.onTabClose = "keep";
    const call = client.begin("write_file", { path: "a.txt", content: "two\n" });
    const id = await shown(core);
    editor.view.count.set(id, 0);
    core.reviews.tabsChanged(id);
    editor.clock.advance(50);
    assert.deepEqual(jsonOf(await call.answer), { status: "rejected", path: "a.txt" });
  });

  it("saves unsaved changes first, and the review says so", async (t) => {
    const { client, core, editor, folder, read, accept } = await work(t, { "a.txt": "one\n" });
    editor.documents.buffers.set(join(folder, "a.txt"), { text: "mine\n", isDirty: true, isUntitled: false });
    const call = client.begin("write_file", { path: "a.txt", content: "two\n" });
    const id = await shown(core);
    assert.equal(read("a.txt"), "mine\n");
    assert.match(editor.view.titles.get(id) ?? "", /your unsaved changes were saved first/);
    assert.equal((await accept(call))["status"], "accepted");
  });

  it("writes without a review if the person wants that, but not what other programs obey", async (t) => {
    const { client, core, editor, read, finish } = await work(t);
    editor.settings.approvalMode = "never";
    const call = client.begin("write_file", { path: "a.txt", content: "one\n" });
    assert.deepEqual(await finish(call), { status: "accepted", path: "a.txt", operation: "created" });
    assert.equal(read("a.txt"), "one\n");
    const obeyed = [
      ".git/hooks/pre-commit", ".vscode/tasks.json", "sub/.vscode/settings.json", "x.code-workspace", ".agent/config.yaml",
      "sub/.git", "sub/.GIT", ".gitattributes", ".husky/pre-commit", ".devcontainer/devcontainer.json", ".devcontainer.json", ".mcp.json", "sub/.envrc",
    ];
    for (const path of obeyed) {
      const asked = client.begin("write_file", { path, content: "x" });
      core.reviews.reject(await shown(core), "button");
      assert.deepEqual(jsonOf(await asked.answer), { status: "rejected", path });
    }
  });

  for (const name of [".vscode", ".git/hooks", ".Husky", ".ssh"]) {
    it(`reviews a file in ${name} although that is the workspace folder`, async (t) => {
      const { client, core, editor, folder } = await work(t, { [`${name}/tasks.json`]: "{}\n" });
      editor.settings.approvalMode = "never";
      editor.folders = [{ name: "work", uri: "", path: join(folder, name) }];
      const asked = client.begin("write_file", { path: "tasks.json", content: "x" });
      core.reviews.reject(await shown(core), "button");
      assert.deepEqual(jsonOf(await asked.answer), { status: "rejected", path: "tasks.json" });
    });
  }

  it("asks nothing about a text that is there already", async (t) => {
    const { client } = await work(t, { "a.txt": "one\n" });
    assert.deepEqual(await client.json("write_file", { path: "a.txt", content: "one\n" }), {
      status: "accepted", path: "a.txt", operation: "modified", unchanged: true,
    });
  });
});

describe("B3: apply_diff", () => {
  it("applies blocks in order, each to the result so far, and keeps CRLF", async (t) => {
    const { client, read, accept } = await work(t, { "a.txt": "one\r\ntwo\r\nthree\r\n" });
    const diff = block("one\ntwo", "1\n2") + block("2\nthree", "2\n3") + "<<<<<<< SEARCH\n1\n=======\n>>>>>>> REPLACE\n";
    assert.deepEqual(await accept(client.begin("apply_diff", { path: "a.txt", diff })), { status: "accepted", path: "a.txt", operation: "modified" });
    assert.equal(read("a.txt"), "2\r\n3\r\n");
  });

  const wrong: [string, string, string, RegExp][] = [
    ["no match", "one\n", block("two", "x"), /^Search block not found:\ntwo$/],
    ["three matches", "a\na\na\n", block("a", "x"), /^Search block is ambiguous \(3 matches found\):\na$/],
    ["matches that overlap", "aaa\n", block("aa", "x"), /ambiguous \(2 matches found\)/],
    ["an empty search", "a\n", "<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n", /Search block is empty/],
    ["no block", "a\n", "nothing", /no block/],
    ["a block without an end", "a\n", "<<<<<<< SEARCH\na\n=======\nb\n", /block 1 has no line >>>>>>> REPLACE/],
    ["a block without a middle", "a\n", "<<<<<<< SEARCH\na\n", /block 1 has no line =======/],
  ];
  for (const [what, before, diff, want] of wrong) {
    it(`with ${what} is an error and shows nothing`, async (t) => {
      const { client, core } = await work(t, { "a.txt": before });
      const result = await client.tool("apply_diff", { path: "a.txt", diff });
      const answer = jsonOf(result);
      assert.equal(result.isError, true);
      assert.match(String(answer["error"]), want);
      assert.equal(answer["path"], "a.txt");
      assert.equal(core.reviews.list().length, 0);
    });
  }

  it("that applies in part says which blocks failed, from 0", async (t) => {
    const { client, read, accept } = await work(t, { "a.txt": "one\ntwo\n" });
    const diff = block("none", "x") + block("one", "1") + block("nor this", "y") + block("two", "2");
    const answer = await accept(client.begin("apply_diff", { path: "a.txt", diff }));
    assert.deepEqual([answer["status"], answer["partial"], answer["failed_blocks"]], ["accepted", true, [0, 2]]);
    assert.deepEqual(answer["errors"], [
      { block: 0, error: "Search block not found:\nnone" }, { block: 2, error: "Search block not found:\nnor this" },
    ]);
    assert.equal(read("a.txt"), "1\n2\n");
  });

  it("of a file that is not there is an error", async (t) => {
    const { client } = await work(t);
    assert.equal((await client.json("apply_diff", { path: "a.txt", diff: block("a", "b") }))["code"], "FILE_NOT_FOUND");
  });
});

describe("B4: execute_command", () => {
  /** Answers the next question, once it may be answered. */
  const agree = async (editor: Awaited<ReturnType<typeof work>>["editor"], yes: boolean): Promise<void> => {
    await until("the question", () => editor.questions.length > 0);
    editor.clock.advance(400);
    editor.questions.shift()?.answer(yes);
  };

  it("asks, then runs, and tells the status and what was printed", async (t) => {
    const { client, editor, folder } = await work(t, { "sub/x": "" });
    const call = client.begin("execute_command", { command: "echo out; echo err >&2; pwd; exit 3", cwd: "sub" });
    await until("the question", () => editor.questions.length > 0);
    assert.deepEqual(editor.questions[0]?.question, { client: "http client", command: "echo out; echo err >&2; pwd; exit 3", cwd: join(folder, "sub") });
    assert.equal(editor.commands.runs.length, 0);
    await agree(editor, true);
    assert.deepEqual(jsonOf(await call.answer), {
      exit_code: 3, output: `out\nerr\n${join(folder, "sub")}\n`, cwd: join(folder, "sub"), output_captured: true,
    });
  });

  it("asks although the setting has an unknown value", async (t) => {
    const { client, editor } = await work(t);
    for (const mode of ["ask", "Never", null]) {
      Object.assign(editor.settings, { approvalMode: mode });
      const call = client.begin("execute_command", { command: "true" });
      await until("the question, or the command", () => editor.questions.length + editor.commands.runs.length > 0);
      assert.equal(editor.commands.runs.length, 0, String(mode));
      await agree(editor, false);
      assert.equal(jsonOf(await call.answer)["status"], "rejected");
    }
  });

  it("says what was rejected", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "rm -rf /" });
    await agree(editor, false);
    assert.deepEqual(jsonOf(await call.answer), { status: "rejected", command: "rm -rf /" });
    assert.equal(editor.commands.runs.length, 0);
  });

  it("hands on why it was rejected", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "make" });
    await until("the question", () => editor.questions.length > 0);
    editor.questions.shift()?.answer(false, "use npm");
    assert.deepEqual(jsonOf(await call.answer), { status: "rejected", command: "make", feedback: "use npm" });
  });

  it("takes the question away with the call", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "touch late" });
    await until("the question", () => editor.questions.length > 0);
    await client.cancel(call.id);
    await until("the question to go", () => editor.questions.length === 0);
    await settled(50);
    assert.deepEqual([editor.warnings, editor.commands.runs.length], [[], 0]);
  });

  it("does not count a yes that came before the question could be read", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "true" });
    await until("the question", () => editor.questions.length > 0);
    editor.questions.shift()?.answer(true);
    await agree(editor, false);
    assert.equal(jsonOf(await call.answer)["status"], "rejected");
  });

  it("shows what cannot be seen in a command", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "echo \u202egnp.x\u001b[2K\r" });
    await until("the question", () => editor.questions.length > 0);
    assert.equal(editor.questions[0]?.question.command, "echo \\u{202e}gnp.x\\u{1b}[2K\\u{d}");
    await agree(editor, false);
    await call.answer;
  });

  it("shows characters that look like a blank, and invisible ones", async (t) => {
    const { client, editor } = await work(t);
    const call = client.begin("execute_command", { command: "a\u00a0b\u3164c\u{e0041}d\ufe0fe\u2800f\u3000g\u034f\th\n" });
    await until("the question", () => editor.questions.length > 0);
    const shown = "a\\u{a0}b\\u{3164}c\\u{e0041}d\\u{fe0f}e\\u{2800}f\\u{3000}g\\u{34f}\th\n";
    assert.equal(editor.questions[0]?.question.command, shown);
    await agree(editor, false);
    await call.answer;
  });

  it("asks about no command that cannot be shown whole", async (t) => {
    const { client, editor } = await work(t);
    for (const hiding of [" ".repeat(3_000), "\n".repeat(40), "\t".repeat(400), "\u00a0".repeat(500)]) {
      const refused = await client.tool("execute_command", { command: `echo hello;${hiding}touch made` });
      assert.equal(refused.isError, true);
      assert.match(String(jsonOf(refused)["error"]), /too long to be shown.*script/);
    }
    assert.equal(editor.questions.length, 0);
    assert.equal(editor.commands.runs.length, 0);
    const call = client.begin("execute_command", { command: `echo ${"x".repeat(1_500)}` });
    await agree(editor, false);
    assert.equal(jsonOf(await call.answer)["status"], "rejected");
  });

  it("asks about one command at a time, and not about one that was cancelled", async (t) => {
    const { client, editor } = await work(t);
    const first = client.begin("execute_command", { command: "first" });
    await until("the question", () => editor.questions.length === 1);
    const second = client.begin("execute_command", { command: "second" });
    const third = client.begin("execute_command", { command: "exit 7" });
    await settled(50);
    assert.equal(editor.questions.length, 1);
    editor.clock.advance(400);
    await client.cancel(second.id);
    await client.cancel(first.id);
    await until("the next question", () => editor.questions[0]?.question.command === "exit 7");
    editor.questions.shift()?.answer(true);
    await until("the question again: that click was meant for the first one", () => editor.questions.length === 1);
    editor.clock.advance(400);
    editor.questions.shift()?.answer(true);
    assert.equal(jsonOf(await third.answer)["exit_code"], 7);
    assert.deepEqual(editor.commands.runs.map(({ command }) => command), ["exit 7"]);
  });

  it("ends a command that is cancelled", async (t) => {
    const { client, editor, folder } = await work(t);
    const call = client.begin("execute_command", { command: "echo $$ > pid; sleep 1000" });
    await agree(editor, true);
    await until("it runs", () => existsSync(join(folder, "pid")) && readFileSync(join(folder, "pid"), "utf8").trim() !== "");
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await client.cancel(call.id);
    await until("it has ended", () => !isAlive(pid));
  });

  it("says so if there is no terminal at all", async (t) => {
    const { client, editor, folder } = await work(t);
    editor.settings.approvalMode = "write-only";
    editor.commands.works = false;
    assert.deepEqual(await client.json("execute_command", { command: "true" }), { exit_code: null, output: "", cwd: folder, output_captured: false });
  });

  it("reports that a command took too long", async (t) => {
    const { client, editor, folder } = await work(t);
    editor.settings.approvalMode = "never";
    const result = await client.tool("execute_command", { command: "echo begun; sleep 1000", timeout_ms: 300 });
    assert.equal(result.isError, true);
    assert.deepEqual(jsonOf(result), {
      exit_code: null, output: "begun\n", cwd: folder, output_captured: true, timed_out: true, error: "the command was ended after 300 ms",
    });
  });

  it("refuses an empty command, a file for cwd, and a folder outside", async (t) => {
    const { client } = await work(t, { "a.txt": "" });
    const code = async (args: object): Promise<unknown> => (await client.json("execute_command", args))["code"];
    assert.equal(await code({ command: " " }), "INVALID_PARAMS");
    assert.equal(await code({ command: "ls", cwd: "a.txt" }), "INVALID_PARAMS");
    assert.equal(await code({ command: "ls", cwd: "/" }), "OUTSIDE_WORKSPACE");
    assert.equal(await code({ command: "ls", cwd: "none" }), "FILE_NOT_FOUND");
  });
});

describe("B12: runInTerminal", () => {
  it("runs what the agent has had approved, without a second question", async (t) => {
    const { lockPath, editor, folder } = await work(t);
    const agent = await WsClient.connect(t, lockPath);
    assert.deepEqual(await agent.json("runInTerminal", { command: "echo hi; exit 2", cwd: folder, timeout_ms: 5_000 }), {
      exit_code: 2, output: "hi\n", cwd: folder, output_captured: true,
    });
    assert.equal(editor.questions.length, 0);
    const late = await agent.tool("runInTerminal", { command: "echo begun; sleep 1000", cwd: folder, timeout_ms: 300 });
    assert.deepEqual([late.isError, (JSON.parse(late.content[0]?.text ?? "") as Record<string, unknown>)["timed_out"]], [undefined, true]);
    assert.deepEqual(agent.notifications("terminal_output"), []);
    editor.trusted = false;
    assert.match((await agent.tool("runInTerminal", { command: "true", cwd: folder })).content[0]?.text ?? "", /WORKSPACE_UNTRUSTED/);
  });
});

describe("B5: read_file, list_files, search_files, get_diagnostics", () => {
  const first = async (client: McpClient, name: string, args: object): Promise<string> => (await client.tool(name, args)).content[0]?.text ?? "";

  it("read_file numbers the lines and says how many there are", async (t) => {
    const { client } = await work(t, { "a.txt": "one\r\n\r\nthree", "many.txt": "x\n".repeat(2_500), "empty.txt": "" });
    assert.equal(await first(client, "read_file", { path: "a.txt" }), "1 | one\n2 | \n3 | three\ntotal_lines: 3");
    assert.equal(await first(client, "read_file", { path: "a.txt", start_line: 2, end_line: 2 }), "2 | \ntotal_lines: 3; shown: 2-2");
    assert.equal(await first(client, "read_file", { path: "empty.txt" }), "total_lines: 0");
    assert.match(await first(client, "read_file", { path: "many.txt" }), /\n2000 \| x\ntotal_lines: 2500; shown: 1-2000$/);
    assert.match(await first(client, "read_file", { path: "a.txt", start_line: 4 }), /the file has no line 4; total_lines: 3/);
  });

  it("read_file takes a NUL in the first 8 KiB for binary, and says what else cannot be read", async (t) => {
    const { client } = await work(t, { "bin": Buffer.from([1, 0, 2]), "dir/x": "" });
    const code = async (path: string): Promise<unknown> => (await client.json("read_file", { path }))["code"];
    assert.deepEqual([await code("bin"), await code("dir"), await code("none"), await code("")], ["BINARY_FILE", "INVALID_PARAMS", "FILE_NOT_FOUND", "INVALID_PARAMS"]);
  });

  it("list_files ends folders with / and lists 500 entries at most", async (t) => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`many/${String(i).padStart(3, "0")}`, ""]));
    const { client } = await work(t, { "b.txt": "", "sub/a.txt": "", ".gitignore": "ignored\n", "ignored/x": "", ...many });
    assert.deepEqual(await client.json("list_files"), { path: ".", files: [".gitignore", "b.txt", "ignored/", "many/", "sub/"], truncated: false });
    const all = await client.json("list_files", { path: "many" });
    assert.deepEqual([(all["files"] as string[]).length, all["truncated"]], [500, true]);
    const deep = await client.json("list_files", { recursive: true, path: "." });
    assert.deepEqual([(deep["files"] as string[]).slice(0, 3), deep["truncated"]], [[".gitignore", "b.txt", "many/"], true]);
    assert.equal((deep["files"] as string[]).includes("ignored/x"), false);
    assert.equal((await client.json("list_files", { path: "b.txt" }))["code"], "INVALID_PARAMS");
    assert.equal((await client.json("list_files", { path: "none" }))["code"], "FILE_NOT_FOUND");
  });

  it("an ignore file that is a pipe, a device or huge is never read", { skip: process.platform !== "linux" }, async (t) => {
    const makers: ((file: string) => void)[] = [(file) => execFileSync("mkfifo", [file]), (file) => symlinkSync("/dev/zero", file), (file) => (writeFileSync(file, ""), truncateSync(file, 30e9))];
    for (const [i, make] of makers.entries()) {
      const name = [".gitignore", "sub/.ignore", "sub/.gitignore"][i] ?? "";
      const { client, folder } = await work(t, { "sub/a.txt": "needle\n" });
      make(join(folder, name));
      for (const [tool, args] of [["search_files", { regex: "needle" }], ["search_files", { regex: "needle", path: "sub/a.txt" }], ["list_files", { recursive: true }]] as const) {
        const answer = await client.json(tool, args);
        assert.equal(answer["code"], "SEARCH_UNAVAILABLE");
        assert.match(String(answer["error"]), new RegExp(`${name} is no regular file, or a very large one`));
      }
    }
  });

  it("an ignore file without an end ends the search", { skip: process.platform !== "linux" }, async (t) => {
    const { client, folder } = await work(t, { "node_modules/a.txt": "needle\n", ".git/HEAD": "" });
    symlinkSync("/dev/zero", join(folder, "node_modules/.gitignore"));
    const answer = await client.json("search_files", { regex: "needle" });
    assert.equal(answer["code"], "SEARCH_UNAVAILABLE");
    assert.match(String(answer["error"]), /too much memory or time: search a smaller folder/);
  });

  it("search_files shows a line of context, and 300 matches at most", async (t) => {
    const { client } = await work(t, { "sub/a.ts": "one\ntwo\nthree\nfour\n\n\nfour\n", "b.md": "two\n", "many.txt": "hit\n".repeat(400) });
    assert.equal(
      await first(client, "search_files", { regex: "^(two|four)$", file_pattern: "*.ts" }),
      "sub/a.ts\n  1 | one\n> 2 | two\n  3 | three\n> 4 | four\n  5 | \n  6 | \n> 7 | four\nmatches: 3",
    );
    assert.match(await first(client, "search_files", { regex: "two", path: "b.md" }), /^b\.md\n> 1 \| two\nmatches: 1$/);
    assert.match(await first(client, "search_files", { regex: "hit" }), /\nmatches: 300; the first 300, there are more$/);
    assert.equal(await first(client, "search_files", { regex: "nowhere" }), "No matches.");
    assert.match(await first(client, "search_files", { regex: "(" }), /regex parse error/);
    assert.equal((await client.json("search_files", { regex: "x", path: "none" }))["code"], "FILE_NOT_FOUND");
  });

  it("get_diagnostics filters by the least severity", async (t) => {
    const { client, editor, folder } = await work(t, { "a.ts": "" });
    const at = { start: { line: 2, character: 0 }, end: { line: 2, character: 1 } };
    editor.diagnostics.set(`file://${folder}/a.ts`, [
      { severity: "Hint", message: "hinted", range: at }, { severity: "Error", message: "wrong\ntype", range: at, source: "ts" },
      { severity: "Information", message: "by the way", range: at }, { severity: "Warning", message: "unused", range: at },
    ]);
    const lines = ["[error] a.ts:3 — wrong type", "[warning] a.ts:3 — unused", "[info] a.ts:3 — by the way", "[hint] a.ts:3 — hinted"];
    assert.equal(await first(client, "get_diagnostics", {}), lines.join("\n"));
    for (const [i, severity] of ["error", "warning", "info", "hint"].entries()) {
      assert.equal(await first(client, "get_diagnostics", { severity }), lines.slice(0, i + 1).join("\n"));
    }
    assert.match(await first(client, "get_diagnostics", { severity: "fatal" }), /must be one of error, warning, info, hint/);
    const call = client.begin("get_diagnostics", { path: "a.ts", severity: "error" });
    await until("the file is loaded", () => editor.diagnostics.loaded.length > 0);
    editor.clock.advance(1_500);
    assert.equal((await call.answer).content[0]?.text, lines[0]);
  });
});

describe("B6: after the save", () => {
  it("formatting is reported as a patch from what was accepted", async (t) => {
    const { client, editor, folder, read, accept } = await work(t, { "a.txt": "one\n" });
    editor.documents.format = (text) => text.replaceAll("  ", " ");
    const answer = await accept(client.begin("write_file", { path: "a.txt", content: "a  b\nc\n" }), "a  b\nc\nd\n");
    assert.equal(read("a.txt"), "a b\nc\nd\n");
    writeFileSync(join(folder, "a.txt"), "a  b\nc\n");
    for (const patch of [answer["user_edits"], answer["format_edits"]]) execFileSync("git", ["apply", "-"], { cwd: folder, input: String(patch) });
    assert.equal(read("a.txt"), "a b\nc\nd\n");
  });

  const kinds: [string, string][] = [["CRLF", "one\r\n"], ["a byte order mark", "\ufeffone\n"], ["both", "\ufeffone\r\n"], ["no line ending", "one"], ["both line endings", "one\r\ntwo\n"]];
  for (const [what, before] of kinds) {
    it(`the patch applies to a file with ${what} as it was accepted`, async (t) => {
      const { client, editor, folder, read, accept } = await work(t, { "a.txt": before });
      await accept(client.begin("write_file", { path: "a.txt", content: "a  b\nc\n" }));
      const accepted = read("a.txt");
      editor.documents.format = (text) => text.replaceAll("  ", " ");
      writeFileSync(join(folder, "a.txt"), before);
      const answer = await accept(client.begin("write_file", { path: "a.txt", content: "a  b\nc\n" }));
      const saved = read("a.txt");
      assert.notEqual(saved, accepted);
      writeFileSync(join(folder, "a.txt"), accepted);
      execFileSync("git", ["apply", "-"], { cwd: folder, input: String(answer["format_edits"]) });
      assert.equal(read("a.txt"), saved);
    });
  }
});

describe("B7: paths", () => {
  const bad: [string, (folder: string, outside: string) => string, string][] = [
    ["that climb out", () => "../x.txt", "OUTSIDE_WORKSPACE"],
    ["that climb out deeper", () => "sub/../../x.txt", "OUTSIDE_WORKSPACE"],
    ["that are absolute", (_, outside) => join(outside, "x.txt"), "OUTSIDE_WORKSPACE"],
    ["of a folder whose name only begins alike", (folder) => `${folder}-other/x.txt`, "OUTSIDE_WORKSPACE"],
    ["through a link to a folder", () => "out/x.txt", "OUTSIDE_WORKSPACE"],
    ["through a link to a file", () => "file", "OUTSIDE_WORKSPACE"],
    ["through a link to nothing", () => "dangling", "FILE_NOT_FOUND"],
    ["below a link to nothing", () => "dangling/x.txt", "FILE_NOT_FOUND"],
    ["with a NUL", () => "a\0b", "INVALID_PARAMS"],
  ];
  for (const [what, path, code] of bad) {
    it(`${what} are refused, for reading and for writing`, async (t) => {
      const { client, core, folder } = await work(t, { "sub/x": "" });
      const outside = tempFolder(t);
      writeFileSync(join(outside, "x.txt"), "secret");
      symlinkSync(outside, join(folder, "out"));
      symlinkSync(join(outside, "x.txt"), join(folder, "file"));
      symlinkSync(join(outside, "none"), join(folder, "dangling"));
      const given = path(folder, outside);
      for (const [tool, more] of [["read_file", {}], ["write_file", { content: "x" }], ["apply_diff", { diff: block("a", "b") }], ["list_files", {}]] as const) {
        assert.equal((await client.json(tool, { path: given, ...more }))["code"], code, tool);
      }
      assert.equal(core.reviews.list().length, 0);
      assert.equal(readFileSync(join(outside, "x.txt"), "utf8"), "secret");
      assert.equal(existsSync(join(outside, "none")), false);
    });
  }

  it("through a link that stays inside are taken, by the real name", async (t) => {
    const { client, folder, read, accept } = await work(t, { "real/a.txt": "one\n" });
    symlinkSync(join(folder, "real"), join(folder, "link"));
    assert.equal((await accept(client.begin("write_file", { path: "link/b.txt", content: "new\n" })))["status"], "accepted");
    assert.equal(read("real/b.txt"), "new\n");
  });

  it("beside a folder that is a link to nothing are found", async (t) => {
    const { client, editor, folder } = await work(t, { "a.txt": "first\n" });
    const link = join(tempFolder(t), "link");
    symlinkSync(join(folder, "none"), link);
    editor.folders.push({ name: "other", uri: "", path: link });
    assert.match((await client.tool("read_file", { path: "a.txt" })).content[0]?.text ?? "", /first/);
    assert.equal((await client.json("read_file", { path: "other/a.txt" }))["code"], "FILE_NOT_FOUND");
  });

  it("of several folders are found by the folder's name", async (t) => {
    const { client, editor } = await work(t, { "a.txt": "first\n" });
    const second = tempFolder(t);
    writeFileSync(join(second, "b.txt"), "second\n");
    editor.folders.push({ name: "other", uri: "", path: second });
    assert.match((await client.tool("read_file", { path: "a.txt" })).content[0]?.text ?? "", /first/);
    assert.match((await client.tool("read_file", { path: "other/b.txt" })).content[0]?.text ?? "", /second/);
  });
});

describe("B8: two edits of a file", () => {
  it("are reviewed one after the other, the second made from the first's result", async (t) => {
    const { client, core, editor, read, accept } = await work(t, { "a.txt": "one\ntwo\n" });
    const first = client.begin("apply_diff", { path: "a.txt", diff: block("one", "1") });
    await shown(core);
    const second = client.begin("apply_diff", { path: "a.txt", diff: block("two", "2") });
    await settled(50);
    assert.equal(core.reviews.list().length, 1);
    await accept(first);
    await until("the first diff is gone", () => core.reviews.list().length === 1);
    assert.equal(editor.view.shown.get(await shown(core))?.original, "1\ntwo\n");
    await accept(second);
    assert.equal(read("a.txt"), "1\n2\n");
  });

  it("the second gives up after 60 seconds, not before, and the first goes on", async (t) => {
    const { client, core, editor, port, accept } = await work(t, { "a.txt": "one\n" });
    const other = await McpClient.connect(port, "other");
    const first = client.begin("write_file", { path: "a.txt", content: "1\n" });
    await shown(core);
    const second = other.begin("write_file", { path: "a.txt", content: "2\n" });
    const waiting = editor.clock.waiting;
    await until("it waits", () => editor.clock.waiting > waiting);
    editor.clock.advance(59_999);
    await settled(50);
    assert.equal(second.heard.length, 0);
    editor.clock.advance(1);
    const answer = jsonOf(await second.answer);
    assert.deepEqual([(await second.answer).isError, answer["code"], answer["path"]], [true, "BUSY", "a.txt"]);
    assert.equal((await accept(first))["status"], "accepted");
  });

  it("an agent's openDiff of a file under review here is told so at once", async (t) => {
    const { client, core, lockPath, folder } = await work(t, { "a.txt": "one\n" });
    const call = client.begin("write_file", { path: "a.txt", content: "1\n" });
    const id = await shown(core);
    const agent = await WsClient.connect(t, lockPath);
    const file = join(folder, "a.txt");
    const answer = await agent.tool("openDiff", { old_file_path: file, new_file_path: file, new_file_contents: "x\n", tab_name: "t" });
    assert.deepEqual([answer.isError, answer.structuredContent?.["code"]], [true, "BUSY"]);
    core.reviews.reject(id, "button");
    await call.answer;
  });
});

describe("B11: what can go wrong", () => {
  it("no workspace", async (t) => {
    const { client, editor } = await work(t);
    editor.folders = [];
    for (const [tool, args] of [["read_file", { path: "a" }], ["write_file", { path: "a", content: "" }], ["execute_command", { command: "ls" }], ["list_files", {}]] as const) {
      const result = await client.tool(tool, args);
      assert.deepEqual([result.isError, jsonOf(result)["code"]], [true, "NO_WORKSPACE"], tool);
    }
  });

  it("a workspace that is not trusted: nothing is changed or run, but read", async (t) => {
    const { client, editor } = await work(t, { "a.txt": "one\n" });
    editor.trusted = false;
    assert.equal((await client.json("write_file", { path: "a.txt", content: "" }))["code"], "WORKSPACE_UNTRUSTED");
    assert.equal((await client.json("execute_command", { command: "ls" }))["code"], "WORKSPACE_UNTRUSTED");
    assert.match((await client.tool("read_file", { path: "a.txt" })).content[0]?.text ?? "", /one/);
  });

  it("a binary file, a folder, a file too large", async (t) => {
    const { client, folder } = await work(t, { bin: Buffer.from([0, 1]), "dir/x": "" });
    writeFileSync(join(folder, "big"), Buffer.alloc(51 * 1024 * 1024, "x"));
    const code = async (path: string): Promise<unknown> => (await client.json("write_file", { path, content: "x" }))["code"];
    assert.deepEqual([await code("bin"), await code("dir"), await code("big"), await code(".")], ["BINARY_FILE", "INVALID_PARAMS", "FILE_TOO_LARGE", "INVALID_PARAMS"]);
  });

  it("permission denied", async (t) => {
    const { client, editor } = await work(t, { "a.txt": "one\n" });
    // A superuser, as which tests may run, is denied nothing.
    editor.documents.read = () => Promise.reject(Object.assign(new Error("EACCES: not yours"), { code: "EACCES" }));
    for (const [tool, more] of [["read_file", {}], ["write_file", { content: "" }]] as const) {
      assert.equal((await client.json(tool, { path: "a.txt", ...more }))["code"], "PERMISSION_DENIED");
    }
  });

  it("a write that fails", async (t) => {
    const { client, core, editor } = await work(t, { "a.txt": "one\n" });
    editor.documents.write = () => Promise.reject(Object.assign(new Error("EACCES: not yours"), { code: "EACCES" }));
    const call = client.begin("write_file", { path: "a.txt", content: "two\n" });
    core.reviews.accept(await shown(core), "button");
    const result = await call.answer;
    assert.deepEqual([result.isError, jsonOf(result)["code"], jsonOf(result)["path"]], [true, "PERMISSION_DENIED", "a.txt"]);
  });

  it("a write that fails for an unforeseen reason: the person's changes come with the error", async (t) => {
    const { client, editor, accept } = await work(t, { "a.txt": "one\n" });
    editor.documents.write = () => Promise.reject(new Error("ETXTBSY: text file is busy"));
    const answer = await accept(client.begin("write_file", { path: "a.txt", content: "two\n" }), "zwei\n");
    assert.deepEqual([answer["code"], answer["error"], answer["path"]], ["INTERNAL", "ETXTBSY: text file is busy", "a.txt"]);
    assert.match(String(answer["user_edits"]), /^-two\n\+zwei$/m);
    assert.match(editor.warnings.join(), /a\.txt was not written/);
    assert.ok(editor.log.some((line) => line.startsWith("error") && line.includes("ETXTBSY")), "it is logged as a fault");
  });

  it("arguments that are none", async (t) => {
    const { client } = await work(t);
    const result = await client.tool("write_file", { path: 7 });
    assert.deepEqual([result.isError, jsonOf(result)], [true, { error: "arguments.content is missing", code: "INVALID_PARAMS" }]);
  });

  it("a required argument that is null: the file is not emptied", async (t) => {
    const { client, editor, read, finish } = await work(t, { "a.txt": "one\n" });
    editor.settings.approvalMode = "never";
    const answer = await finish(client.begin("write_file", { path: "a.txt", content: null }));
    assert.deepEqual([answer, read("a.txt")], [{ error: "arguments.content is missing", code: "INVALID_PARAMS" }, "one\n"]);
  });

  it("sends the client the output before the command has ended", async (t) => {
    const { lockPath, editor, folder } = await work(t);
    const agent = await WsClient.connect(t, lockPath);
    const other = await WsClient.connect(t, lockPath);
    execFileSync("mkfifo", [join(folder, "go")]);
    const call = agent.beginTool("runInTerminal", { command: "echo begun; cat go; echo done", cwd: folder, run_id: "run-7" });
    assert.deepEqual(await agent.heard("terminal_output"), { run_id: "run-7", text: "begun\n" });
    assert.equal(agent.answered(call), undefined);
    writeFileSync(join(folder, "go"), "now\n");
    await agent.response(call);
    const told = agent.notifications("terminal_output").map(({ text }) => text);
    assert.equal(told.join(""), "begun\nnow\ndone\n");
    assert.deepEqual(other.notifications("terminal_output"), []);
    assert.equal(editor.questions.length, 0);
  });

  it("ends with all that it has started when the call is cancelled", async (t) => {
    const { lockPath, folder } = await work(t);
    const agent = await WsClient.connect(t, lockPath);
    const command = "sh -c 'echo $$ > pid.tmp; mv pid.tmp pid; sleep 1000; touch late'; touch later";
    const call = agent.beginTool("runInTerminal", { command, cwd: folder, run_id: "run-1" });
    await until("the child", () => existsSync(join(folder, "pid")));
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    agent.notify("notifications/cancelled", { requestId: call });
    await until("its end", () => !isAlive(pid));
    await agent.request("ping", {});
    assert.deepEqual([agent.answered(call), existsSync(join(folder, "late")), existsSync(join(folder, "later"))], [undefined, false, false]);
  });
});
