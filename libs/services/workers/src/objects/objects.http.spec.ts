import { objectName } from '@gateway/contracts';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

describe('links to objects', () => {
  let database: TestDatabase;
  let app: WorkersApp;
  const key = objectName('results', 'acct_a', 'picture.svg');

  beforeAll(async () => {
    database = await testPostgres();
    await MIGRATED.migrate(database.url);
    app = await startWorkersApp(database.url);
    const picture = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<svg/>');
    };
    await app.objects.put(key, picture(), { maxBytes: 100 });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  async function follow(link: string): Promise<Response> {
    const { pathname, search } = new URL(link);
    return fetch(`${app.url}${pathname}${search}`);
  }

  it('give the object to whoever has one, as what it is and as no page', async () => {
    const answer = await follow(await app.objects.link(key, 60_000));
    expect([answer.status, await answer.text()]).toEqual([200, '<svg/>']);
    expect(answer.headers.get('content-type')).toBe('image/svg+xml');
    expect(answer.headers.get('content-length')).toBe('6');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('are 404 when changed, late, of nothing, or no links', async () => {
    const good = await app.objects.link(key, 60_000);
    const links = [
      good.replace('picture', 'another'),
      good.replace('acct_a', 'acct_b'),
      good.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`),
      await app.objects.link(key, -60_000),
      await app.objects.link(objectName('results', 'acct_a', 'nothing.svg'), 60_000),
      good.replace('picture.svg', '..%2f..%2f.link-secret'),
    ];
    for (const link of links) {
      const answer = await follow(link);
      expect([link, answer.status]).toEqual([link, 404]);
    }
    for (const shortened of [good.replace(/\?.*/, ''), good.slice(0, -1)]) {
      const answer = await follow(shortened);
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('not whole')]);
    }
  });
});
