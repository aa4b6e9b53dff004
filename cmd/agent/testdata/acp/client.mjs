// A host made with the official TypeScript SDK. Its arguments: the folder, the program of an
// MCP server, and the command line of the agent.
import { spawn } from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const [dir, server, ...agent] = process.argv.slice(2);
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAwAAAAICAAAAADoj0EtAAAAEklEQVR4nGJiQAI05AACAAD//wQQABEniEvcAAAAAElFTkSuQmCC';
const updates = [];
const terminals = new Map();
let answer = () => 'reject-once', onChunk = () => {}, asked = 0;

const app = acp.client({ name: 'test' })
  .onRequest(acp.methods.client.session.requestPermission, async ({ params }) => {
    asked++;
    const id = await answer(params);
    return { outcome: id ? { outcome: 'selected', optionId: id } : { outcome: 'cancelled' } };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    if (params.update.sessionUpdate === 'agent_message_chunk') onChunk();
  })
  .onRequest(acp.methods.client.fs.readTextFile, ({ params }) => ({ content: fs.readFileSync(params.path, 'utf8') }))
  .onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => { fs.writeFileSync(params.path, params.content); return {}; })
  .onRequest(acp.methods.client.terminal.create, ({ params }) => {
    const p = spawn(params.command, params.args, { cwd: params.cwd });
    const t = { p, output: '', exit: new Promise((ok) => p.on('close', (exitCode, signal) => ok({ exitCode, signal }))) };
    p.stdout.on('data', (d) => { t.output += d; });
    terminals.set(`t${p.pid}`, t);
    return { terminalId: `t${p.pid}` };
  })
  .onRequest(acp.methods.client.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).exit)
  .onRequest(acp.methods.client.terminal.output, ({ params }) => ({ output: terminals.get(params.terminalId).output, truncated: false }))
  .onRequest(acp.methods.client.terminal.kill, ({ params }) => { terminals.get(params.terminalId).p.kill('SIGKILL'); return {}; })
  .onRequest(acp.methods.client.terminal.release, ({ params }) => { terminals.delete(params.terminalId); return {}; });

async function host(work) {
  const p = spawn(agent[0], agent.slice(1), { cwd: dir, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((ok) => p.on('exit', ok));
  const got = await app.connectWith(acp.ndJsonStream(Writable.toWeb(p.stdin), Readable.toWeb(p.stdout)), async (c) => {
    const init = await c.request('initialize', {
      protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, auth: { terminal: true } },
    });
    assert.equal(init.agentCapabilities.promptCapabilities.image, true);
    assert.deepEqual(init.authMethods.map((m) => [m.type, m.args]), [['terminal', ['--setup']]]);
    return work(c);
  });
  p.stdin.end();
  assert.equal(await ended, 0);
  return got;
}

const text = (s) => [{ type: 'text', text: s }];
const read = () => fs.readFileSync(`${dir}/a.txt`, 'utf8');

const id = await host(async (c) => {
  const s = await c.request('session/new', { cwd: dir, mcpServers: [{ name: 'test', command: server, args: ['mcp-server'], env: [] }] });
  const say = async (prompt, stop) => assert.equal((await c.request('session/prompt', { sessionId: s.sessionId, prompt })).stopReason, stop);
  const cancel = () => c.notify('session/cancel', { sessionId: s.sessionId });

  await say(text('reject'), 'end_turn');
  assert.equal(read(), 'one\n');
  answer = (q) => {
    const diff = q.toolCall.content.find((x) => x.type === 'diff');
    assert.deepEqual([diff.oldText, diff.newText], ['one\n', 'two\n']);
    return q.options.find((o) => o.kind === 'allow_once').optionId;
  };
  await say(text('once'), 'end_turn');
  assert.equal(read(), 'two\n');
  asked = 0;
  answer = (q) => q.options.find((o) => o.kind === 'allow_always').optionId;
  await say(text('always'), 'end_turn');
  assert.deepEqual([read(), asked], ['four\n', 1]);
  answer = () => 'allow-once';
  await say(text('terminal'), 'end_turn');
  assert.ok(updates.some((u) => u.sessionUpdate === 'tool_call_update' && u.content?.some((x) => x.type === 'terminal')));
  await say(text('server'), 'end_turn');
  onChunk = cancel;
  await say(text('cancel in mid-stream'), 'cancelled');
  onChunk = () => {};
  answer = async () => { await cancel(); return ''; };
  await say(text('cancel in a question'), 'cancelled');
  await c.request('session/set_mode', { sessionId: s.sessionId, modeId: 'plan' });
  const set = await c.request('session/set_config_option', { sessionId: s.sessionId, configId: 'mode', value: 'default' });
  assert.equal(set.configOptions.find((o) => o.id === 'mode').currentValue, 'default');
  await c.request('session/set_config_option', { sessionId: s.sessionId, configId: 'model', value: 'corp/test-model' });
  await say([...text('picture'), { type: 'image', data: picture, mimeType: 'image/png' }], 'end_turn');
  await c.request('session/close', { sessionId: s.sessionId });
  return s.sessionId;
});
for (const kind of ['tool_call', 'usage_update', 'session_info_update', 'available_commands_update', 'config_option_update', 'current_mode_update']) {
  assert.ok(updates.some((u) => u.sessionUpdate === kind), kind);
}
updates.length = 0;
await host(async (c) => {
  await c.request('session/load', { sessionId: id, cwd: dir, mcpServers: [] });
  assert.ok(updates.some((u) => u.sessionUpdate === 'user_message_chunk' && u.content.text === 'reject'));
  const { stopReason } = await c.request('session/prompt', { sessionId: id, prompt: text('go on') });
  assert.equal(stopReason, 'end_turn');
  const { sessions } = await c.request('session/list', { cwd: dir });
  assert.ok(sessions.some((s) => s.sessionId === id));
});
