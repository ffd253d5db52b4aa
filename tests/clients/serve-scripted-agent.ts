// Serves the scripted model for client programs of other languages.
// Run: node --conditions=@ortler/source tests/clients/serve-scripted-agent.ts [port]

import { startScriptedAgentServer } from '../support/scripted-agent-server.ts';

const [port] = process.argv.slice(2);
const server = await startScriptedAgentServer(port === undefined ? {} : { port: Number(port) });
process.stdout.write(`OPENAI_BASE_URL=${server.url}/v1 OPENAI_API_KEY=${server.apiKey}\n`);
