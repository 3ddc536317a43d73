import type { ModelRequest } from '@gateway/dialects';
import { ENDPOINTS } from './registry.generated.js';
import { wholeBody } from './stored/stored-content-needed.js';

type Json = Record<string, unknown>;

const USER = { role: 'user', content: 'x' };
/** The smallest bodies. */
const BODIES: Readonly<Record<string, Json>> = {
  '/chat/completions': { messages: [USER] },
  '/messages': { messages: [USER], max_tokens: 9 },
  '/responses': { input: 'x' },
  '/rerank': { query: 'x', documents: ['one'] },
  '/web/search': { query: 'x' },
};
/** Replaced before the endpoint reads the body. */
const STORED = ['template', 'template_version', 'variables', 'memory'];
/** Names of other formats, and of none. */
const OTHERS = ['functions', 'function_call', 'container', 'mcp_servers', 'inference_geo', 'fallbacks']
  .concat(['diagnostics', 'context_management', 'betas', 'min_p', 'provider', 'plugins', 'transforms'])
  .concat(['seconds', 'image', 'images', 'invented', 'reasoning', 'store', 'speed', 'documents', 'top_n']);

function schemaOf(path: string): Json {
  const docs = ENDPOINTS.find(({ paths }) => paths.includes(path))?.docs;
  return (docs?.schema as { properties: Json }).properties;
}

/** True where the endpoint knows the member; what it does not know is named to the caller. */
function isKnown(path: string, member: string): boolean {
  const endpoint = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (endpoint === undefined) throw new TypeError(`no endpoint at ${path}`);
  // An unknown member of web search and rerank is named where it says something.
  const value = ['/rerank', '/web/search'].includes(path) ? 'x' : null;
  const body = member in BODIES[path] ? BODIES[path] : { ...BODIES[path], [member]: value };
  try {
    const asked = wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
    const { unknown = {} } = asked.request as Partial<ModelRequest>;
    return !(member in unknown || asked.unread?.includes(member) === true);
  } catch {
    // Refused for its value, so it is known.
    return true;
  }
}

describe('R6 the members of a request', () => {
  const every = [
    ...new Set([...Object.keys(BODIES).flatMap((path) => Object.keys(schemaOf(path))), ...OTHERS]),
  ];

  it.each(Object.keys(BODIES))(
    'of %s that are read are written, and those that are written are read',
    (path) => {
      const written = schemaOf(path);
      const names = every.filter((member) => !STORED.includes(member));
      expect(names.filter((member) => isKnown(path, member))).toEqual(
        names.filter((member) => member in written),
      );
    },
  );

  it('of /images/edits name the images of OpenAI’s clients, in JSON and in a form', () => {
    const { schema, form } = ENDPOINTS.find(({ paths }) => paths.includes('/images/edits'))?.docs ?? {};
    for (const described of [schema, form]) expect(described?.properties).toHaveProperty('images');
  });
});
