import { setImmediate } from "node:timers/promises";
import { parseOffer } from "./always";
import { parseCheck, parseRefused } from "./checks";
import { ToolError } from "./errors";
import { parseNotes } from "./notes";
import { canonical, relativeTo } from "./paths";
import type { Ports } from "./ports";
import { json, texts } from "./result";
import type { Answer, Removal, Review, ReviewRequest } from "./review";
import type { Reviews } from "./reviews";
import { isObject } from "./schema";
import { oneLine } from "./text";
import { flag, integer, text } from "./tools";
import type { Tool, ToolCall } from "./tools";

/** Whether somebody else has a file under edit, whose review must not be mixed with ours. */
export interface Busy {
  isBusy(path: string): boolean;
}

/** The tools of reviews. */
export function diffTools(reviews: Reviews, ports: Ports, others: Busy): readonly Tool[] {
  return [
    {
      name: "openDiff",
      description:
        "Shows a proposed edit as a diff and waits until the person accepts or rejects it. Answers FILE_SAVED and the final text " +
        "(which the person may have edited; the client writes it), or DIFF_REJECTED, or TAB_CLOSED if there was no decision.",
      inputSchema: openDiffSchema,
      call: (call) => openDiff(reviews, ports, others, call),
    },
    {
      name: "close_tab",
      description: "Closes the client's diff with this tab name, without a decision.",
      inputSchema: { type: "object", properties: { tab_name: { type: "string" }, tabName: { type: "string" } } },
      call: async ({ client, args }) => {
        const name = text(args, "tab_name") ?? text(args, "tabName");
        if (name === undefined) throw new ToolError("INVALID_PARAMS", "arguments.tab_name is missing");
        await reviews.close(client, name);
        return texts("TAB_CLOSED");
      },
    },
    {
      name: "closeAllDiffTabs",
      description: "Closes all diffs of this client, and nobody else's, without a decision.",
      inputSchema: { type: "object", properties: {} },
      call: async ({ client }) => texts(`CLOSED_${await reviews.close(client)}_DIFF_TABS`),
    },
    {
      name: "resolveDiff",
      description:
        "Answers a diff that is open: accept returns the text as it stands in the editor. hold keeps the editor from answering " +
        "while the draft is edited elsewhere, until release. show brings the diff to the screen (again).",
      inputSchema: {
        type: "object",
        properties: {
          diff_id: { type: "string" },
          outcome: { type: "string", enum: ["accept", "reject", "hold", "release", "show"] },
        },
        required: ["diff_id", "outcome"],
      },
      call: async (call) => {
        // This process may have been suspended for a while. A client that did not wait has
        // cancelled with its next message, and its answer must not count.
        await setImmediate();
        // The person's last keystrokes may still be on their way from the window.
        if (!call.cancelled.aborted && text(call.args, "outcome") === "accept") await ports.view.caughtUp();
        return call.cancelled.aborted ? "silent" : resolveDiff(reviews, call);
      },
    },
    checkTool(reviews),
    {
      name: "getPendingDiffs",
      description: "Lists the diffs of this client that wait for an answer.",
      inputSchema: { type: "object", properties: {} },
      call: ({ client }) => Promise.resolve(json({ diffs: reviews.ownedBy(client).map(pending) })),
    },
  ];
}

/** The tool by which a client tells about its trial of a proposal. */
function checkTool(reviews: Reviews): Tool {
  return {
    name: "setCheck",
    description: "Shows in a diff that the client tries the proposal by a command, and the result.",
    inputSchema: {
      type: "object",
      properties: {
        diff_id: { type: "string", maxLength: 200 },
        state: { type: "string", enum: ["running", "passed", "failed", "unknown"] },
        text: { type: "string", description: "The command and its result on one line." },
        output: { type: "string" },
        problems: {
          type: "array",
          description: "The new problems of the file: line and column from 1, in the proposed text; column 0 if unknown.",
          items: {
            type: "object",
            properties: { line: { type: "integer" }, column: { type: "integer" }, warning: { type: "boolean" }, text: { type: "string" } },
          },
        },
      },
      required: ["diff_id", "state", "text"],
    },
    call: ({ client, args }) => {
      reviews.checked(client, text(args, "diff_id") ?? "", parseCheck(args));
      return Promise.resolve(json({ success: true }));
    },
  };
}

const openDiffSchema: Tool["inputSchema"] = {
  type: "object",
  properties: {
    old_file_path: { type: "string", description: "Absolute path of the file that the proposal was made from; it may not exist." },
    new_file_path: { type: "string", description: "Absolute path of the file to be written; old_file_path if absent." },
    new_file_contents: { type: "string", description: "The whole proposed text." },
    tab_name: { type: "string", description: "The client's name for the diff, unique among its pending ones." },
    diff_id: { type: "string", description: "Identity of the question: asking again with the same id and text continues it.", maxLength: 200 },
    description: { type: "string", description: "Why, for the person; 200 characters fit its row, and more are in a box." },
    removal: {
      type: "string",
      description: "delete: the file is to be removed, and new_file_contents is empty; move: it is to be moved to new_file_path; absent: neither.",
      enum: ["delete", "move"],
    },
    base_sha256: { type: "string", description: "SHA-256 of the file's bytes, or of the buffer as checkDocumentDirty gives it." },
    encoding: { type: "string", description: "The registered name of the encoding in which the client reads the file, if it is not UTF-8.", maxLength: 60 },
    on_close: { type: "string", description: "What closing the tab means; reject if absent.", enum: ["keep", "reject"] },
    view: {
      type: "string",
      description: "inline: in the document itself, if that can be; plan: a plan in Markdown, which no file holds; diff if absent.",
      enum: ["diff", "inline", "plan"],
    },
    batch: {
      type: "object",
      properties: { id: { type: "string" }, index: { type: "integer" }, total: { type: "integer" } },
    },
    notes: {
      type: "array",
      description: "Remarks that the person must see, each a sentence.",
      items: { type: "object", properties: { kind: { type: "string" }, text: { type: "string" } } },
    },
    // The proposal for this file that the person refused before, with their words; lines from 1.
    refused: {
      type: "object",
      properties: {
        text: { type: "string" },
        feedback: { type: "string" },
        comments: { type: "array", items: { type: "object", properties: { line: { type: "integer" }, text: { type: "string" } } } },
      },
    },
    draft: { type: "string", description: "The person's text to begin with, from a window that has ended." },
    rechecks: { type: "boolean", description: "The client compares the file again before it writes, and asks again if it has changed: the editor does not ask about that." },
    keeps_drafts: { type: "boolean", description: "diff_changed has the person's text." },
    // The permission rule that the person may change, and make with an acceptance.
    offer: { type: "object", properties: { rule: { type: "string" }, problem: { type: "string" } } },
    stack: { type: "boolean", description: "Wait behind this client's pending diff of the file instead of replacing it." },
    timeout_ms: { type: "integer", description: "Give up without a decision after this time.", minimum: 1, maximum: 2_147_483_647 },
  },
  required: ["old_file_path", "new_file_contents", "tab_name"],
};

/** Shows an edit and waits for its end. */
export async function openDiff(reviews: Reviews, ports: Ports, others: Busy, { client, args, cancelled }: ToolCall): Promise<Answer> {
  const request = await toRequest(args);
  if (request.isPlan !== true && [request.path, request.oldPath].some((path) => others.isBusy(path))) throw new ToolError("BUSY", "another client's edit of this file waits for its review");
  const relative = relativeTo(request.path, await realFolders(ports));
  if (cancelled.aborted) return "silent";
  const { answer, cancel } = reviews.ask(client, request, relative);
  cancelled.addEventListener("abort", cancel);
  return answer;
}

async function toRequest(args: Record<string, unknown>): Promise<ReviewRequest> {
  const given = text(args, "old_file_path") ?? "";
  const isPlan = text(args, "view") === "plan";
  const oldPath = isPlan ? given : await canonical(given);
  const onClose = text(args, "on_close") === "keep" ? "keep" : "reject";
  const base = text(args, "base_sha256")?.toLowerCase();
  const path = isPlan ? given : await canonical(text(args, "new_file_path") ?? given);
  const proposal = text(args, "new_file_contents") ?? "";
  return {
    oldPath,
    path,
    proposal,
    removal: removalOf(args, { path, oldPath, proposal }),
    tabName: text(args, "tab_name") ?? "",
    diffId: text(args, "diff_id"),
    description: text(args, "description") ?? "",
    baseSha256: base === "" ? undefined : base,
    encoding: text(args, "encoding"),
    onClose,
    stack: flag(args, "stack", false),
    timeoutMs: integer(args, "timeout_ms"),
    inline: text(args, "view") === "inline",
    isPlan,
    notes: parseNotes(args["notes"]),
    refused: parseRefused(args["refused"]),
    draft: text(args, "draft"),
    rechecks: flag(args, "rechecks", false),
    keepsDrafts: flag(args, "keeps_drafts", false),
    offer: parseOffer(args["offer"]),
    ...batchOf(args["batch"]),
  };
}

function removalOf(args: Record<string, unknown>, { path, oldPath, proposal }: Pick<ReviewRequest, "path" | "oldPath" | "proposal">): Removal | undefined {
  switch (text(args, "removal")) {
    case "delete":
      if (path === oldPath && proposal === "") return "delete";
      throw new ToolError("INVALID_PARAMS", "a file that is deleted has one path and no new text");
    case "move":
      if (path !== oldPath) return "move";
      throw new ToolError("INVALID_PARAMS", "a file that moves has two paths");
    default:
      return undefined;
  }
}

function batchOf(value: unknown): Pick<ReviewRequest, "batch"> {
  const { id, index, total } = isObject(value) ? value : {};
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(total)) return {};
  return { batch: { id: typeof id === "string" ? id : "", index: Number(index), total: Number(total) } };
}

async function realFolders(ports: Ports): Promise<string[]> {
  return Promise.all(ports.workspace.folders().map((folder) => canonical(folder.path).catch(() => folder.path)));
}

function resolveDiff(reviews: Reviews, { client, args }: ToolCall): Answer {
  const id = text(args, "diff_id") ?? "";
  const outcome = text(args, "outcome");
  if (outcome === "accept" || outcome === "reject") {
    const verdict = reviews.resolve(client, id, outcome);
    if (verdict !== undefined) return json(verdict.told);
  } else if (outcome === "show" ? reviews.present(client, id) : reviews.claim(client, id, outcome === "hold" ? "hold" : "release")) {
    return json({ success: true });
  }
  throw new ToolError("DIFF_NOT_FOUND", "no diff of this client has this id and waits for an answer");
}

function pending(review: Review): object {
  const { path, tabName, description } = review.request;
  const { state, stale, held } = review.machine;
  return {
    diffId: review.diffId,
    path,
    tabName,
    description: oneLine(description, 200),
    state,
    edited: review.edited,
    stale,
    held,
    createdAt: review.createdAt,
  };
}
