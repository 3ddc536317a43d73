/** Words of JSON Schema, of which structured output knows some. */
export const MANY_WORDS = {
  $id: 'x',
  title: 'Many',
  type: ['object', 'null'],
  required: ['a'],
  additionalProperties: true,
  properties: {
    a: { enum: ['x', null], default: 'x', examples: ['x'], $comment: 'x' },
    b: { const: 5 },
    c: { oneOf: [{ type: 'string' }, { type: 'number', multipleOf: 2 }], anyOf: [true] },
    d: { allOf: [{ $ref: '#/definitions/e' }] },
    f: { type: 'array', items: { properties: {} }, minItems: 1, description: 'Some' },
    ...Object.fromEntries(
      [
        'date-time',
        'time',
        'date',
        'duration',
        'email',
        'hostname',
        'uri',
        'ipv4',
        'ipv6',
        'uuid',
        'regex',
      ].map((format) => [format, { type: 'string', format }]),
    ),
  },
  definitions: { e: { type: 'object' } },
  $defs: { g: { type: 'string', pattern: '^a$' } },
};
