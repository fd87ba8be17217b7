/** The MCP library, wrapped: a list of tools served on stdio. Nothing else of the house knows the library. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { VERSION } from '../app/product.ts';
import { type Complaint, complaintText, type Told } from './say.ts';

/** A JSON Schema of an object. */
export interface Schema {
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties: false;
}

export interface ToolCall {
  args: Record<string, unknown>;
  signal: AbortSignal;
  /** A sign of life for the client, with the seconds since the call. */
  progress(seconds: number): void;
}

export interface ServedTool {
  name: string;
  about: string;
  schema: Schema;
  reads?: true;
  run(call: ToolCall): Promise<Told | Complaint>;
}

/** Settles when the client has closed its end. */
export async function serveTools(tools: readonly ServedTool[]): Promise<void> {
  const server = new Server({ name: 'ralph', version: VERSION }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, about, schema, reads }) => ({
      name,
      description: about,
      inputSchema: { ...schema },
      annotations: { readOnlyHint: reads === true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) return refused(unknown(params.name, tools));
    const token = params._meta?.progressToken;
    const progress = (seconds: number) => {
      if (token === undefined) return;
      const news = { progressToken: token, progress: seconds, message: 'waiting for a person' };
      void sendNotification({ method: 'notifications/progress', params: news }).catch(() => undefined);
    };
    const answer = await tool.run({ args: params.arguments ?? {}, signal, progress });
    if ('what' in answer) return refused(answer);
    return { content: [{ type: 'text', text: answer.text }] };
  });
  await new Promise<void>((closed, failed) => {
    server.onclose = closed;
    // The library's transport does not hear that its input ended.
    process.stdin.once('end', () => void server.close());
    server.connect(new StdioServerTransport()).catch(failed);
  });
}

function refused(problem: Complaint) {
  return { content: [{ type: 'text' as const, text: complaintText(problem) }], isError: true };
}

function unknown(name: string, tools: readonly ServedTool[]): Complaint {
  return {
    what: `"${name}" is not a tool.`,
    why: `There is: ${tools.map((tool) => tool.name).join(', ')}.`,
    fix: 'Use one of these. Answers and control are for people, and no tool speaks for one.',
  };
}
