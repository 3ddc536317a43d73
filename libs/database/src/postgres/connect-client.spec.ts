import pg from 'pg';
import { assertSchemaKnown } from './assert-schema-known.js';
import { connectClient } from './connect-client.js';

const client = (failure: Error): pg.Client => {
  const made = new pg.Client({ connectionString: 'postgresql://gateway:a-secret@db.internal:5433/books' });
  made.connect = () => Promise.reject(failure);
  return made;
};

describe('a connection to PostgreSQL that cannot be made', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5433'), { code: 'ECONNREFUSED' });
  // What Node throws for a name with several addresses: it has no message.
  const several = Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' });

  it.each([
    [refused, 'connect ECONNREFUSED 10.0.0.1:5433'],
    [several, 'ECONNREFUSED'],
    [
      new Error('password authentication failed for user "gateway"'),
      'password authentication failed for user "gateway"',
    ],
  ])('names the server and what it says, and no password: %s', async (failure, said) => {
    const error = await connectClient(client(failure)).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({
      message: `PostgreSQL at db.internal:5433 cannot be used: ${said}`,
      cause: failure,
    });
    expect(String(error)).not.toContain('a-secret');
  });

  it('is what a start says where nobody listens', async () => {
    const url = 'postgresql://gateway:a-secret@127.0.0.1:1/books';
    await expect(assertSchemaKnown({ url, schemaDir: '/nowhere', schema: 'keys' })).rejects.toThrow(
      'PostgreSQL at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1',
    );
  });
});
