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

/** The URI of one side; the path gives both sides their language and their label. */
export function reviewUri(scheme: string, path: string, id: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme, query: id });
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
