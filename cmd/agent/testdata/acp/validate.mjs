// Checks the messages of an agent, in the file out, against the official schema. The file in
// has those of the host. It prints the number of messages.
import fs from 'node:fs';
import Ajv from 'ajv/dist/2020.js';

const schema = JSON.parse(fs.readFileSync('node_modules/@agentclientprotocol/sdk/schema/v1/schema.json'));
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(schema, 'acp');
const byMethod = new Map(); // method and direction of a message to its definition
for (const [name, def] of Object.entries(schema.$defs)) {
  if (def['x-method']) byMethod.set(`${def['x-method']} ${name.replace(/.*(Request|Response|Notification)$/, '$1')}`, ajv.compile({ $ref: `acp#/$defs/${name}` }));
}
const lines = (file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l));
const asked = new Map();
let n = 0, bad = 0;
const check = (f, value, m) => {
  n++;
  if (f?.(value)) return;
  bad++;
  console.error(JSON.stringify(m).slice(0, 500), f ? ajv.errorsText(f.errors) : 'no such message in the schema');
};
for (const m of lines(process.argv[3])) if (m.method) asked.set(m.id, m.method);
for (const m of lines(process.argv[2])) {
  if (m.jsonrpc !== '2.0') { bad++; console.error(m); }
  if (m.method) check(byMethod.get(`${m.method} ${'id' in m ? 'Request' : 'Notification'}`), m.params, m);
  else if (m.error) n++;
  else check(byMethod.get(`${asked.get(m.id)} Response`), m.result, m);
}
if (bad) process.exit(1);
console.log(n);
