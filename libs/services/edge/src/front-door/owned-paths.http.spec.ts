import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEdge, type EdgeUnderTest } from '../edge.fixture.js';

const ROOT = join(import.meta.dirname, '../../../../..');
const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as {
  paths: Record<string, object>;
};
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const AWAY = 'http://127.0.0.1:1';

describe('the public paths of a fleet', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => {
    const frontDoor = { keys: AWAY, catalogue: AWAY, usage: AWAY, notifications: AWAY, workers: AWAY };
    edge = await startEdge({ frontDoor });
  });
  afterAll(() => edge.close());

  it('each documented endpoint is the edge’s own or belongs to a service, and none is unknown', async () => {
    const unknown: string[] = [];
    for (const [path, operations] of Object.entries(paths)) {
      for (const method of Object.keys(operations).filter((name) => METHODS.includes(name))) {
        const url = edge.url + path.replaceAll(/\{\w+\}/g, 'x');
        const answer = await fetch(url, { method: method.toUpperCase(), redirect: 'manual' });
        if ((await answer.text()).includes('No endpoint has this method')) unknown.push(`${method} ${path}`);
      }
    }
    expect(unknown).toEqual([]);
  });
});
