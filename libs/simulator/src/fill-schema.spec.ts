import { Ajv } from 'ajv';
import { fillSchema } from './fill-schema.js';
import type { Json } from './json.js';

const ajv = new Ajv({ strict: false });

describe('fillSchema', () => {
  it.each<[string, Json]>([
    [
      'enum and const',
      { type: 'object', properties: { a: { enum: ['x'] }, b: { const: 3 } }, required: ['a', 'b'] },
    ],
    [
      'nested arrays',
      {
        type: 'array',
        minItems: 2,
        items: { type: 'object', properties: { n: { type: 'integer', minimum: 5 } }, required: ['n'] },
      },
    ],
    [
      'local references',
      {
        $ref: '#/$defs/p',
        $defs: { p: { type: 'object', properties: { q: { type: 'null' } }, required: ['q'] } },
      },
    ],
    ['unions', { anyOf: [{ type: 'string', minLength: 9 }, { type: 'null' }] }],
    [
      'all of several',
      {
        allOf: [
          { type: 'object', required: ['a'], properties: { a: { type: 'boolean' } } },
          { type: 'object', required: ['b'], properties: { b: { type: 'number', exclusiveMinimum: 2 } } },
        ],
      },
    ],
    [
      'type lists and short texts',
      { type: 'object', properties: { a: { type: ['string', 'null'], maxLength: 2 } }, required: ['a'] },
    ],
    ['an object of nothing', { type: 'object', additionalProperties: false }],
  ])('conforms to %s', (_title, schema) => {
    const filled = fillSchema(schema, 'a hint');
    expect([filled, ajv.validate(Object(schema), filled)]).toEqual([filled, true]);
  });

  it('ends on a schema that contains itself', () => {
    const next = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
    for (const schema of [
      next,
      { $ref: '#' },
      { anyOf: [{ $ref: '#' }] },
      { allOf: [next, { $ref: '#' }] },
    ]) {
      expect(JSON.stringify(fillSchema(schema, '')).length).toBeLessThan(2_000);
    }
  });
});
