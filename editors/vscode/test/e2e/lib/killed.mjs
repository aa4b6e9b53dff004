// A client in a process of its own, to be killed while it waits: node killed.mjs ENTRY PATH
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [entry, file] = [JSON.parse(process.argv[2]), process.argv[3]];
const client = new Client({ name: "killed", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(entry.url), { requestInit: { headers: entry.headers } }));
await client.callTool({ name: "write_file", arguments: { path: file, content: "x" } }, { timeout: 120_000 });
