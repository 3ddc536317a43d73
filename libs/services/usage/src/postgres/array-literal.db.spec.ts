import fc from 'fast-check';
import pg from 'pg';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import { arrayLiteral } from './array-literal.js';

let place: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  place = await testPostgres();
  client = new pg.Client({ connectionString: place.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await place.drop();
});

describe('arrayLiteral', () => {
  it('comes back from PostgreSQL as it was, whatever the texts hold', async () => {
    // PostgreSQL takes no NUL, and a text of half a surrogate pair is none.
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0'));
    const nasty = fc.constantFrom('', 'NULL', 'null', '{}', '"', '\\', '\\"', ' a ', ',', '\n', "'");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(text, nasty, fc.constant(null)), { maxLength: 12 }),
        async (values) => {
          const { rows } = await client.query('SELECT $1::text[] AS back', [arrayLiteral(values)]);
          expect(rows[0].back).toEqual(values);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('writes numbers and booleans as they are', async () => {
    const { rows } = await client.query('SELECT $1::float8[] AS a, $2::bool[] AS b', [
      arrayLiteral([1.5, -2, null, 1e21]),
      arrayLiteral([true, false]),
    ]);
    expect(rows[0]).toEqual({ a: [1.5, -2, null, 1e21], b: [true, false] });
  });
});
