// What package.json promises the editor.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

interface Key {
  readonly command: string;
  readonly key: string;
  readonly when: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  contributes: {
    walkthroughs: { steps: { id: string; description: string; media: { image?: string; svg?: string; markdown?: string } }[] }[];
    keybindings: Key[];
    configuration: { properties: Record<string, { default: string[]; items: { enum: string[] } }> };
  };
};

const english = jsonOf("package.nls.json");
const german = jsonOf("package.nls.de.json");

function jsonOf(file: string): Record<string, string> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
}

describe("the walkthrough", () => {
  const steps = manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);

  for (const { id, description, media } of steps) {
    it(`${id} is shown as it is meant`, () => {
      for (const texts of [english, german]) {
        const shown = texts[description.slice(1, -1)];
        assert.ok(shown !== undefined && !shown.includes("`"), "the editor shows backticks as they are");
      }
      assert.ok(existsSync(media.image ?? media.svg ?? media.markdown ?? ""), "its picture is there");
      assert.ok(media.markdown === undefined || existsSync(media.markdown.replace(/\.md$/, ".nls.de.md")), "its page is translated");
    });
  }
});

describe("the keys that go to the agent", () => {
  const sent = manifest.contributes.keybindings.filter(({ command }) => command === "workbench.action.terminal.sendSequence");
  const setting = manifest.contributes.configuration.properties["agent.keys"];

  it("are those of the setting, each taken back by its own name alone", () => {
    const keys = sent.map(({ key }) => key);
    assert.deepEqual([setting?.items.enum, setting?.default], [keys, keys]);
    for (const { key, when } of sent) {
      const match = / && config\.agent\.keys =~ \/(.+)\/$/.exec(when);
      assert.ok(match?.[1] !== undefined, `${key} can be taken back`);
      const named = new RegExp(match[1]);
      // As the editor gives a list to a when clause.
      assert.deepEqual(keys.filter((each) => named.test(JSON.stringify([each]))), [key]);
    }
  });
});
