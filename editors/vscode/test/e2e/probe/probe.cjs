// Lets a test look into the editor: runs the JavaScript that is posted to it,
// with vscode at hand, and answers with its result. Never shipped.
const fs = require("node:fs");
const http = require("node:http");
const vscode = require("vscode");

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

async function evaluate(code, args) {
  try {
    const value = await new AsyncFunction("vscode", "args", code)(vscode, args);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: String(error?.stack ?? error) };
  }
}

function read(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    request.on("error", reject);
  });
}

exports.activate = (context) => {
  const server = http.createServer((request, response) => {
    void read(request)
      .then(({ code, args }) => evaluate(code, args))
      .then((answer) => response.end(JSON.stringify(answer)));
  });
  server.listen(0, "127.0.0.1", () => {
    // The newest window answers by itself, the others by their process.
    for (const file of [process.env.PROBE_PORT_FILE, `${process.env.PROBE_PORT_FILE}.${process.pid}`]) {
      fs.writeFileSync(`${file}.new`, JSON.stringify({ port: server.address().port, pid: process.pid }));
      fs.renameSync(`${file}.new`, file);
    }
  });
  context.subscriptions.push({ dispose: () => server.close() });
};
