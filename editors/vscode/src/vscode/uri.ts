import * as vscode from "vscode";

/** The scheme of the left side: the file as it was when the review began. */
export const originalScheme = "agent-original";
/** The scheme of the right side: the proposal, with what the person changes in it. */
export const proposedScheme = "agent-proposed";

/** The URI of one side; the path gives both sides their language and their label. */
export function reviewUri(scheme: string, path: string, id: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme, query: id });
}

export function isReviewUri(uri: vscode.Uri): boolean {
  return uri.scheme === originalScheme || uri.scheme === proposedScheme;
}

/** The review to which one of our URIs belongs. */
export function reviewId(uri: vscode.Uri): string | undefined {
  return isReviewUri(uri) && uri.query !== "" ? uri.query : undefined;
}
