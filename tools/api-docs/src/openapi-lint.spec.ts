import { createConfig, lintFromString } from '@redocly/openapi-core';
import { documents } from './documents.js';

/** The strictest set of the linter, where even a warning fails. */
const RULES = {
  extends: ['recommended-strict'],
  rules: {
    'operation-operationId': 'error',
    'operation-description': 'error',
    'parameter-description': 'error',
    'tag-description': 'error',
    // An id of a model may have its slash encoded or not: a path of constant parts is matched before one of parameters.
    'no-ambiguous-paths': 'off',
    // Conditions (`if`) name the properties that stand beside them.
    'no-required-schema-properties-undefined': 'off',
  },
} as const;

/** Logins that send the browser on: 302 is their good answer. */
const REDIRECTS = [
  '#/paths/~1auth~1oidc~1callback/get/responses',
  '#/paths/~1auth~1oidc~1start/get/responses',
];

async function problemsOf(source: string): Promise<string[]> {
  const config = await createConfig(structuredClone(RULES) as never);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems
    .filter(
      ({ ruleId, location }) =>
        ruleId !== 'operation-2xx-response' || !REDIRECTS.includes(location[0].pointer ?? ''),
    )
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0].pointer ?? ''} ${message}`);
}

/** Untyped as JSON.parse answers it: what it holds is asserted. */
type Document = ReturnType<JSON['parse']>;

const isEmpty = (schema: Document): boolean => schema !== undefined && Object.keys(schema).length === 0;

/** A handler that nobody has described is described by its own name. */
const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '');

/** "Some object", or nothing at all: a client cannot be made of it. */
function isBare(schema: Document): boolean {
  const { type, properties, additionalProperties, patternProperties } = schema;
  if (isEmpty(schema)) return true;
  if (![type].flat().includes('object')) return false;
  return [properties, additionalProperties, patternProperties].every((said) => said === undefined);
}

/** Places of lists whose elements are not described. */
function silentLists(schema: Document, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const isSilent = [schema.type].flat().includes('array') && (!schema.items || isEmpty(schema.items));
  const below = Object.entries<Document>(schema).flatMap(([name, one]) => silentLists(one, `${at}.${name}`));
  return isSilent ? [at, ...below] : below;
}

describe('docs/openapi.json', () => {
  // Made anew: that the file is the same is docs:check.
  const text = documents().get('docs/openapi.json') ?? '';

  it('has no fault for a strict linter', async () => {
    expect(await problemsOf(text)).toEqual([]);
  });

  it('would have one for an example that its schema refuses, and for a parameter that nobody describes', async () => {
    const document: Document = JSON.parse(text);
    const { post, get } = document.paths['/v1/keys'];
    post.requestBody.content['application/json'].example = { rpm: 'many' };
    delete get.parameters[1].description;
    const found = (await problemsOf(JSON.stringify(document))).map((problem) => problem.split(' ')[0]);
    expect(new Set(found)).toEqual(new Set(['no-invalid-media-type-examples', 'parameter-description']));
  });

  it('says of every operation what it answers with, and shows nearly all', () => {
    const { paths }: Document = JSON.parse(text);
    const answers = Object.entries<Document>(paths).flatMap(([path, item]) =>
      Object.entries<Document>(item).map(([method, { responses }]) => {
        const [[status, { content }]] = Object.entries<Document>(responses);
        return { operation: `${method} ${path}`, isEmpty: ['204', '302'].includes(status), content };
      }),
    );
    const silent = answers.filter(({ isEmpty, content }) => !isEmpty && content === undefined);
    expect(silent.map(({ operation }) => operation)).toEqual([]);
    const json = answers.flatMap(({ content }) => content?.['application/json'] ?? []);
    expect(json.filter((media) => 'example' in media).length / json.length).toBeGreaterThan(0.95);
  });

  it('gives every answer more than "an object", every parameter a type and every handler words of its own', () => {
    const { paths, components }: Document = JSON.parse(text);
    const named = Object.entries<Document>(components.schemas);
    const bare = named.filter(([, schema]) => isBare(schema)).map(([name]) => name);
    for (const [path, item] of Object.entries<Document>(paths))
      for (const [method, operation] of Object.entries<Document>(item)) {
        const { responses, parameters, description, operationId } = operation;
        const answers = Object.values<Document>(responses).flatMap(({ content }) =>
          Object.values(content ?? {}),
        );
        if (answers.some(({ schema }: Document) => isBare(schema))) bare.push(`${method} ${path}`);
        for (const { name, schema } of parameters)
          if (!('type' in schema) && !('anyOf' in schema)) bare.push(`${method} ${path} ${name}`);
        if (lettersOf(description) === lettersOf(operationId))
          bare.push(`${method} ${path} has no description`);
      }
    expect(bare).toEqual([]);
  });

  it('says what every list holds, and has a body wherever one is read', () => {
    const { paths, components }: Document = JSON.parse(text);
    const lists = Object.entries<Document>(components.schemas).flatMap(([name, schema]) =>
      silentLists(schema, name),
    );
    expect(lists).toEqual([]);
    const types = (path: string): string[] => Object.keys(paths[path].post.requestBody?.content ?? {});
    expect(types('/v1/video/generations')).toEqual(['application/json']);
    expect(types('/v1/images/edits')).toEqual(['application/json', 'multipart/form-data']);
    expect(types('/v1/audio/transcriptions/translate')).toEqual(['multipart/form-data']);
  });

  it('names the headers of every response, and memory and template where they are taken', () => {
    const { paths, components }: Document = JSON.parse(text);
    const responses = Object.values<Document>(paths)
      .flatMap((item: Document) => Object.values<Document>(item))
      .flatMap((operation: Document) => Object.values<Document>(operation.responses));
    for (const { headers } of responses) expect(headers).toHaveProperty('X-Request-Id');
    const { responses: chat, parameters } = paths['/v1/chat/completions'].post;
    for (const name of ['X-Cache', 'X-Service-Version', 'x-ratelimit-limit-requests'])
      expect(chat['200'].headers).toHaveProperty([name]);
    expect(chat['4XX'].headers).toHaveProperty('Retry-After');
    expect(parameters.map(({ name }: Document) => name)).toContain('X-Service-Cache');
    for (const name of ['ChatRequest', 'MessagesRequest', 'ResponsesRequest'])
      expect(Object.keys(components.schemas[name].properties)).toEqual(
        expect.arrayContaining(['memory', 'template']),
      );
  });

  it('R6 D4 names the Idempotency-Key of every create, and a number where one is taken beside its text', () => {
    const { paths, components }: Document = JSON.parse(text);
    const taking = Object.entries<Document>(paths)
      .filter(([, { post }]) => post?.parameters.some(({ name }: Document) => name === 'Idempotency-Key'))
      .map(([path]) => path);
    expect(taking).toEqual(
      expect.arrayContaining([
        ...['/v1/keys', '/v1/orgs', '/v1/orgs/{id}/invitations', '/v1/provider-keys', '/v1/templates'],
        ...['/v1/batches', '/v1/video/generations', '/v1/images/generations', '/v1/images/edits'],
        ...['/v1/admin/credits', '/v1/billing/checkout', '/v1/billing/coupons/redeem', '/alerts/channels'],
      ]),
    );
    for (const [schema, member] of [
      ['DiscountBody', 'pct'],
      ['CreatePolicyBody', 'threshold_usd'],
    ])
      expect(components.schemas[schema].properties[member].type).toEqual(
        expect.arrayContaining(['string', 'number']),
      );
  });

  it('gives every member of a management body a type', () => {
    const { paths, components }: Document = JSON.parse(text);
    const bodies = Object.values<Document>(paths)
      .flatMap((item: Document) => Object.values<Document>(item))
      .filter(({ tags }) => tags[0] !== 'inference')
      .flatMap(({ requestBody }) => requestBody?.content['application/json']?.schema.$ref ?? [])
      .map((reference: string) => reference.slice(reference.lastIndexOf('/') + 1));
    const untyped = [...new Set(bodies)].flatMap((body) =>
      Object.entries<Document>(components.schemas[body].properties ?? {})
        .filter(([, { type, anyOf, $ref, items }]) => ![type, anyOf, $ref].some(Boolean) || isEmpty(items))
        .map(([member]) => `${body}.${member}`),
    );
    expect(untyped).toEqual([]);
  });
});
