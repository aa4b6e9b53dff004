import * as vscode from "vscode";

/** The scheme of the left side: the file as it was when the review began. */
export const originalScheme = "agent-original";
/** The scheme of the right side: the proposal with the person's changes. */
export const proposedScheme = "agent-proposed";
/** The scheme of a plan, with the person's changes. */
export const planScheme = "agent-plan";
/** The scheme of a review in one text: the file and the proposal, line by line. */
export const inlineScheme = "agent-inline";

const schemes: readonly string[] = [originalScheme, proposedScheme, planScheme, inlineScheme];

/** The paths in the URIs of each review, by its id and the file's path: folders come and go meanwhile. */
const paths = new Map<string, Map<string, string>>();

/** The URI of one side. The path gives both sides their language and their label; it begins at the file's folder in the window. */
export function reviewUri(scheme: string, path: string, id: string): vscode.Uri {
  const known = paths.get(id) ?? new Map<string, string>();
  paths.set(id, known);
  const inside = vscode.workspace.asRelativePath(path);
  const shown = known.get(path) ?? (inside === path ? vscode.Uri.file(path).path : `/${inside}`);
  known.set(path, shown);
  return vscode.Uri.from({ scheme, path: shown, query: id });
}

/** A review is over, and nothing of it is shown any more. */
export function forgetUris(id: string): void {
  paths.delete(id);
}

/** The file that one of our URIs is about. */
export function pathOf(uri: vscode.Uri): string {
  const shown = [...(paths.get(uri.query) ?? [])].find(([, each]) => each === uri.path);
  return shown?.[0] ?? uri.fsPath;
}

/** The URI of the text that a review proposes. */
export function proposalUri({ path, id, isPlan }: { path: string; id: string; isPlan: boolean }): vscode.Uri {
  return reviewUri(isPlan ? planScheme : proposedScheme, path, id);
}

/** Whether this is the text that a review proposes, which the person may change. */
export function isProposalUri({ scheme }: vscode.Uri): boolean {
  return scheme === proposedScheme || scheme === planScheme;
}

export function isReviewUri(uri: vscode.Uri): boolean {
  return schemes.includes(uri.scheme);
}

/** The review to which one of our URIs belongs. */
export function reviewId(uri: vscode.Uri): string | undefined {
  return isReviewUri(uri) && uri.query !== "" ? uri.query : undefined;
}
