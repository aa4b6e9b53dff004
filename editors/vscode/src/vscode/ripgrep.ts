import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";

const program = process.platform === "win32" ? "rg.exe" : "rg";

/** The ripgrep that the editor brings with it, else the person's own; undefined without either. */
export function findRipgrep(): string | undefined {
  const modules = ["node_modules", "node_modules.asar.unpacked"].map((each) => join(vscode.env.appRoot, each, "@vscode"));
  const inside = ["ripgrep/bin", `ripgrep-universal/bin/${process.platform}-${process.arch}`];
  const folders = modules.flatMap((each) => inside.map((rest) => join(each, rest)));
  return [...folders, ...(process.env["PATH"] ?? "").split(delimiter)].map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
