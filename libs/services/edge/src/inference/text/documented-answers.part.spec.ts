import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { repository } from '@gateway/testing';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'documented_answers');

interface Document {
  paths: Record<
    string,
    { post: { responses: Record<string, { content: Record<string, { schema: object }> }> } }
  >;
  components: { schemas: Record<string, object> };
}

describe('answers as docs/openapi.json says', () => {
  const document = JSON.parse(readFileSync(`${repository}/docs/openapi.json`, 'utf8')) as Document;

  const messages = [{ role: 'user', content: 'Hello there' }];
  it.each<[string, object]>([
    ['/v1/chat/completions', { model: 'simulator/chat', messages }],
    ['/v1/messages', { model: 'simulator/claude', max_tokens: 50, messages }],
    ['/v1/messages/count_tokens', { model: 'simulator/claude', messages }],
    ['/v1/responses', { model: 'simulator/chat', input: 'Hello there' }],
    ['/v1/chat/compare', { models: ['simulator/chat', 'simulator/claude'], messages, max_tokens: 50 }],
    ['/v1/router/select', { messages }],
  ])('POST %s', async (path, body) => {
    const answer = await edge.post(body, { path });
    const value: unknown = await answer.json();
    expect([answer.status, value]).toEqual([200, expect.any(Object)]);
    const { schema } = document.paths[path].post.responses['200'].content['application/json'];
    expect(schema).toHaveProperty('$ref');
    const ajv = new Ajv2020({ strict: false });
    const validate = ajv.compile({ ...schema, components: document.components });
    expect(validate(value) ? [] : validate.errors).toEqual([]);
  });
});
