// One session of the official TypeScript client: connect, list, call, list again. Prints JSON.
//   node client.mjs PACKAGE stdio COMMAND…      node client.mjs PACKAGE http URL
const [name, transport, ...words] = process.argv.slice(2);
const LIMIT = 4000;

const old = name === "@modelcontextprotocol/sdk";
const { Client } = await import(old ? `${name}/client/index.js` : name);
const { StdioClientTransport } = await import(old ? `${name}/client/stdio.js` : `${name}/stdio`);
const { StreamableHTTPClientTransport } = await import(
  old ? `${name}/client/streamableHttp.js` : name
);

const steps = { connect: "hangs" };
const later = (ms) => new Promise((done) => setTimeout(() => done("hangs"), ms));

async function step(title, wanted, most = LIMIT + 3000) {
  const began = Date.now();
  const said = wanted().then(
    (result) => result?.content?.[0]?.text ?? "ok",
    (problem) => `error: ${problem?.name}: ${String(problem?.message).slice(0, 80)}`,
  );
  steps[title] = await Promise.race([said, later(most)]);
  steps[`${title} s`] = Math.round((Date.now() - began) / 100) / 10;
}

const client = new Client({ name: "under-fault", version: "1.0.0" });
client.onerror = () => {};
const way =
  transport === "stdio"
    ? new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: "ignore" })
    : new StreamableHTTPClientTransport(new URL(words[0]));
const limit = { timeout: LIMIT };
// A process may take its time to start; that is no fault.
await step("connect", () => client.connect(way, { timeout: 30000 }), 40000);
if (steps.connect === "ok") {
  await step("list", () => client.listTools({}, limit));
  for (const title of ["call", "call again"]) {
    const asked = { name: "greet", arguments: { name: "Ada" } };
    await step(title, () =>
      old ? client.callTool(asked, undefined, limit) : client.callTool(asked, limit),
    );
  }
  await step("list again", () => client.listTools({}, limit));
}
console.log(JSON.stringify(steps));
await Promise.race([client.close().catch(() => {}), later(2000)]);
process.exit(0);
