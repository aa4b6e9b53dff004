// Serves the tools that the official conformance suite asks for through our door, guards,
// dispatcher and table: the suite judges the whole product except its tools. Prints its
// address; ends with its standard input.
import { systemClock } from "../../src/core/clock";
import { ToolError } from "../../src/core/errors";
import { Guard } from "../../src/core/guard";
import { McpDoor } from "../../src/core/mcp/door";
import type { Clock, Log } from "../../src/core/ports";
import type { ToolResult } from "../../src/core/result";
import type { ObjectSchema } from "../../src/core/schema";
import { Server } from "../../src/core/server";
import { ToolTable } from "../../src/core/tools";
import type { Tool } from "../../src/core/tools";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const text = { type: "text", text: "This is a text for testing." };
const image = { type: "image", data: png, mimeType: "image/png" };
const audio = { type: "audio", data: wav, mimeType: "audio/wav" };
const resource = { type: "resource", resource: { uri: "test://resource", mimeType: "text/plain", text: "a resource" } };
const nothing: ObjectSchema = { type: "object", properties: {} };

/** The schema that must come back whole, with keywords that none of our own tools uses. */
const whole = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
  properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
} as unknown as ObjectSchema;

function tool(name: string, call: Tool["call"], inputSchema = nothing): Tool {
  return { name, description: `For testing: ${name}`, inputSchema, call };
}

/** A tool that answers with these items, of which our own know only text. */
function answering(name: string, ...content: object[]): Tool {
  return tool(name, () => Promise.resolve({ content } as unknown as ToolResult));
}

/** The window's clock runs a hundred times as fast: reports come every 200 ms instead of every 20 s. */
const fast: Clock = { now: () => systemClock.now() * 100, after: (ms, run) => systemClock.after(ms / 100, run) };
const tools = new ToolTable(
  [
    answering("test_simple_text", text),
    answering("test_image_content", image),
    answering("test_audio_content", audio),
    answering("test_embedded_resource", resource),
    answering("test_multiple_content_types", text, image, resource),
    tool("test_error_handling", () => Promise.reject(new ToolError("INTERNAL", "This tool intentionally returns an error for testing"))),
    // As a review that waits for more than a minute.
    tool("test_tool_with_progress", () => new Promise((done) => fast.after(70_000, () => done({ content: [{ type: "text", text: "done" }] })))),
    tool("json_schema_2020_12_tool", () => Promise.resolve({ content: [] }), whole),
  ],
  {},
);

const log: Log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };
let lastId = 0;
const door = new McpDoor({ clock: fast, log, tools, version: "0", nextId: () => ++lastId, changed: () => undefined, gone: () => undefined });
// The suite has no token to send.
const guard = new Guard(undefined, { required: () => false });
const server = new Server({ clock: systemClock, log, guard, sockets: [], http: [{ path: "/mcp", guard, handle: (req, res) => door.handle(req, res) }] });

void server.listen(0).then((port) => process.stdout.write(`http://127.0.0.1:${port}/mcp\n`));
process.stdin.resume().on("end", () => void door.close().then(() => server.close()));

function complain(message: string): void {
  process.stderr.write(`${message}\n`);
}
