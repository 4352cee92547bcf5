// Drives `equipage serve` with the TypeScript client: tools, and every file of every skill verified.
// Arguments: "legacy" or "auto", then the command of the server, or the address and the token.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';

const [mode, where, ...rest] = process.argv.slice(2);
const options = mode === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {};
const client = new Client({ name: 'test', version: '1' }, options);
const transport = where.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(where), {
      requestInit: { headers: { authorization: `Bearer ${rest[0]}` } },
    })
  : new StdioClientTransport({ command: where, args: rest });
await client.connect(transport);
const { tools } = await client.listTools();
const called = await client.callTool({ name: 't.count', arguments: { text: 'a b c' } });
const wrong = await client.callTool({ name: 't.count', arguments: { text: 5 } });
const skills = new SkillsClient(client);
let verified = 0;
let listed = [];
if (skills.supported) {
  listed = (await skills.list()).skills;
  for (const skill of listed) {
    for (const resource of skill.resources) {
      const file = await skills.read(skill, resource.uri);
      if (file.verified) verified += 1;
    }
  }
}
console.log(JSON.stringify({
  tools: tools.map(tool => tool.name),
  structured: called.structuredContent,
  refused: wrong.isError,
  supported: skills.supported,
  skills: listed.length,
  verified,
}));
await client.close();
