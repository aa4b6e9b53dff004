import * as vscode from "vscode";

/** The scheme of the left side: the file as it was when the review began. */
export const originalScheme = "agent-original";
/** The scheme of the right side: the proposal with the person's changes. */
export const proposedScheme = "agent-proposed";
/** The scheme of a review in one text: the file and the proposal, line by line. */
export const inlineScheme = "agent-inline";

const schemes: readonly string[] = [originalScheme, proposedScheme, inlineScheme];

/** The URI of one side; the path gives both sides their language and their label. */
export function reviewUri(scheme: string, path: string, id: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme, query: id });
}

export function isReviewUri(uri: vscode.Uri): boolean {
  return schemes.includes(uri.scheme);
}

/** The review to which one of our URIs belongs. */
export function reviewId(uri: vscode.Uri): string | undefined {
  return isReviewUri(uri) && uri.query !== "" ? uri.query : undefined;
}
