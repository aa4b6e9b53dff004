// The model's key in the scenarios: only the model's server may get it.
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

/** The API key of every scene. */
export const KEY = "sk-canary-7f3d";
/** The variable that holds it. */
export const VARIABLE = "SCENE_KEY";

const SENDS = /^(?:\d+ +)?(?:write|writev|sendto|sendmsg|sendmmsg)\(\d+<(?:TCP|UDP|UNIX|NETLINK)[^:]*:\[(.*?)\]>, (.*)/;
const CONNECTS = /^(?:\d+ +)?connect\(.*?sin6?_port=htons\(\d+\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"/;
const SKIPPED = ["extensions", "traces"];

/** With AGENT_TEST_CANARY, a folder with a program that runs the agent under strace; it goes before the others on PATH. */
export function tracer(root, agent) {
  if (!process.env.AGENT_TEST_CANARY) return [];
  const [bin, traces] = [path.join(root, "traces/bin"), path.join(root, "traces")];
  fs.mkdirSync(bin, { recursive: true });
  const calls = "trace=execve,execveat,connect,write,writev,sendto,sendmsg,sendmmsg";
  const script = `#!/bin/sh\nexec strace -DD -f --seccomp-bpf -qq -v -yy -s 65536 -e signal=none -e ${calls} -o ${traces}/$$ -- ${agent} "$@"\n`;
  fs.writeFileSync(path.join(bin, "agent"), script, { mode: 0o755 });
  return [bin];
}

/** The files below the folders that hold the key. */
export function leaks(...folders) {
  return folders.flatMap((folder) => files(folder, SKIPPED)).filter((file) => {
    try {
      return fs.readFileSync(file).includes(KEY);
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "EACCES") return false; // it has just gone
      throw error;
    }
  });
}

function files(folder, skipped = []) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return skipped.includes(entry.name) ? [] : files(at);
    return entry.isFile() ? [at] : [];
  });
}

/** The traced calls that give the key to a child, or send it elsewhere than to models ("127.0.0.1:80"), or that leave this machine. */
export function escapes(trace, models) {
  let own = true;
  return trace.split("\n").filter((line) => {
    if (/^(?:\d+ +)?execve/.test(line)) {
      const child = !own;
      own = false;
      return child && line.includes(KEY);
    }
    const to = CONNECTS.exec(line)?.[1];
    if (to !== undefined) return to !== "::1" && !(net.isIPv4(to) && to.startsWith("127."));
    const [, socket, args] = SENDS.exec(line) ?? [];
    return args !== undefined && !models.includes(socket.split("->")[1]) && sends(args);
  });
}

/** The escapes of all traces of a host. */
export function traced(root, models) {
  const folder = path.join(root, "traces");
  return files(folder, ["bin"]).flatMap((file) => escapes(fs.readFileSync(file, "latin1"), models));
}

const sends = (args) => [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].some(([, text]) => holdsKey(unescaped(text)));

/** Whether bytes hold the key, also masked as a client's messages in a WebSocket are: by four bytes again and again. */
function holdsKey(bytes) {
  const key = Buffer.from(KEY);
  const isAt = (at) => key.subarray(4).every((each, i) => (bytes[at + i] ^ bytes[at + i + 4]) === (key[i] ^ each));
  return bytes.some((_, at) => at + key.length <= bytes.length && isAt(at));
}

/** A text as strace writes it, in bytes. */
function unescaped(text) {
  const plain = text.replace(/\\(?:([0-7]{1,3})|(.))/g, (_, octal, letter) =>
    octal === undefined ? ({ n: "\n", t: "\t", r: "\r", v: "\v", f: "\f" }[letter] ?? letter) : String.fromCharCode(parseInt(octal, 8)),
  );
  return Buffer.from(plain, "latin1");
}
