// Calls methods of facades with jujulib: reads a JSON object a line, and writes the answer as a line.
//
// node calls.mjs MODULES ENDPOINT; a request has `user`, `password`, `path`, `facade`, `method` and `params`.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, endpoint] = process.argv.slice(2);
const load = async (name) => import(pathToFileURL(`${modules}/${name}`).href);
const { connectAndLogin } = await load("@canonical/jujulib/dist/api/client.js");
const { default: websocket } = await load("websocket/index.js");
const connections = {};

async function connection({ path, user, password, facades }) {
  const known = facades.map(async (name) => (await load(`@canonical/jujulib/dist/api/facades/${name}/index.js`)).default);
  const options = { facades: await Promise.all(known), wsclass: websocket.w3cwebsocket, closeCallback: () => {} };
  return connectAndLogin(`wss://${endpoint}${path}`, options, { username: user, password });
}

async function answer(request) {
  const key = `${request.user} ${request.path}`;
  connections[key] ??= await connection(request);
  const { conn } = connections[key];
  if (!request.facade) return { result: conn.info };
  const facade = conn.facades[request.facade];
  if (!facade) throw new Error(`no facade ${request.facade}`);
  const result = await facade[request.method](request.params);
  return { result, name: facade.NAME, version: facade.VERSION };
}

for await (const line of createInterface({ input: process.stdin })) {
  let found;
  try {
    found = await answer(JSON.parse(line));
  } catch (error) {
    found = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
process.exit(0);
