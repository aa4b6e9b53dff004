// Every text for people can be translated, and the German translation is complete.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

type Texts = Record<string, string>;

const jsonOf = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
const manifest = jsonOf("package.json");
const english = jsonOf("package.nls.json") as Texts;

/** The names of package.nls.json that a value of the manifest uses. */
function namesIn(value: unknown): string[] {
  if (typeof value === "string") return /^%[^%]+%$/.test(value) ? [value.slice(1, -1)] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(namesIn) : [];
}

/** Texts of the manifest that the editor shows, and that stay as they are in every language. */
const shown = ["title", "shortTitle", "description", "markdownDescription", "enumDescriptions", "contents", "altText"];
const fixed = ["${path}"];

function untranslated(value: unknown, name = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => untranslated(each, name));
  if (typeof value === "string") return shown.includes(name) && !fixed.includes(value) && !/^%[^%]+%$/.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.entries(value).flatMap(([key, each]) => untranslated(each, key)) : [];
}

/** The texts that the sources pass to t. */
function textsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const sources = files.map((name) => readFileSync(join(folder, name), "utf8"));
  return sources.flatMap((source) => [...source.matchAll(/\bt\(\s*("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? "") as string));
}

const placeholders = (text: string): string[] => (text.match(/\{\d\}/g) ?? []).sort();
const links = (text: string): string[] => (text.match(/\]\([^)]*\)|`[^`]*`/g) ?? []).sort();

describe("the manifest", () => {
  it("has no text that cannot be translated", () => {
    const { contributes, displayName, description } = manifest as { contributes: unknown; displayName: string; description: string };
    assert.deepEqual(untranslated(contributes), []);
    assert.deepEqual([displayName, description], ["%displayName%", "%description%"]);
  });

  it("uses exactly the texts of package.nls.json, which German has too", () => {
    const german = jsonOf("package.nls.de.json") as Texts;
    assert.deepEqual([...new Set(namesIn(manifest))].sort(), Object.keys(english).sort());
    assert.deepEqual(Object.keys(german), Object.keys(english));
    for (const [name, text] of Object.entries(english)) assert.deepEqual(links(german[name] ?? ""), links(text), name);
  });
});

describe("the texts of the sources", () => {
  it("have a German translation with the same placeholders", () => {
    const german = jsonOf("l10n/bundle.l10n.de.json") as Texts;
    assert.deepEqual(Object.keys(german).sort(), [...new Set(textsIn("src"))].sort());
    for (const [text, translated] of Object.entries(german)) {
      assert.notEqual(translated, "");
      assert.deepEqual(placeholders(translated), placeholders(text), text);
    }
  });

  it("go to the person through t only", () => {
    const calls = /\.(?:show(?:Information|Warning|Error)Message|setStatusBarMessage|warn)\(\s*["`]/;
    const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const raw = files.flatMap((name) => readFileSync(join("src", name), "utf8").split("\n").filter((line) => calls.test(line) && !/\blog\.warn\(/.test(line)));
    assert.deepEqual(raw, []);
  });
});
