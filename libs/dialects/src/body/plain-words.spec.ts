import { Ajv } from 'ajv';
import { schemaFault } from './read-json.js';

const ajv = new Ajv({ strict: false });

/** The words for the one fault of a value. */
function words(schema: object, value: unknown): string {
  const validate = ajv.compile(schema);
  expect(validate(value)).toBe(false);
  return schemaFault(validate.errors?.[0]).msg;
}

describe('what a body is told of a rule of its schema', () => {
  it.each([
    [{ type: ['string', 'array'] }, 5, 'must be a string or a list'],
    [{ type: 'boolean', nullable: true }, 5, 'must be true or false'],
    [{ type: ['boolean', 'null'] }, 5, 'must be true, false or null'],
    [{ type: 'integer' }, 'x', 'must be a whole number'],
    [{ type: 'string', minLength: 1 }, '', 'must have at least 1 character'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'must have at most 2 characters'],
    [{ type: 'array', minItems: 1 }, [], 'must have at least 1 item'],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'must have at most 1 item'],
    [{ minimum: 0 }, -1, 'must be at least 0'],
    [{ exclusiveMaximum: 2 }, 2, 'must be less than 2'],
    [{ pattern: '^a$' }, 'b', 'does not have the form that it needs'],
    [{ const: 'text' }, 'b', 'must be "text"'],
    [{ enum: ['a', 'b', null] }, 'c', 'must be one of a, b'],
    [{ uniqueItems: true }, [1, 1], 'must not hold the same item twice'],
    [{ multipleOf: 2 }, 3, 'must be a multiple of 2'],
  ])('CHAT-30 %j', (schema, value, said) => {
    expect(words(schema, value)).toBe(said);
  });
});
