import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { START_MS } from './harness/modes.js';
import { SHARED_MODES, type OwnOrganization } from './harness/own-organization.js';
import { runBlock, shellBlocks } from './harness/shell-blocks.js';

/** Pages whose blocks of shell are run as they stand, and how many calls of the gateway each has at least. */
const PAGES: [page: string, blocks: number][] = [
  ['README.md', 1],
  ['docs/endpoints.md', 14],
];

describe.each(SHARED_MODES)('the documented calls, to %s', (_name, start) => {
  let gateway: OwnOrganization;
  const folder = mkdtempSync(join(tmpdir(), 'gw-documented-'));
  beforeAll(async () => {
    gateway = await start();
  }, START_MS);
  afterAll(() => rmSync(folder, { recursive: true }));

  describe.each(PAGES)('%s', (page, atLeast) => {
    const blocks = shellBlocks(page);

    it(`has ${atLeast} blocks at least that call a gateway`, () => {
      expect(blocks.length).toBeGreaterThanOrEqual(atLeast);
    });

    it.each(blocks)('answers 2xx to every request of $title', async (block) => {
      expect(await runBlock(block, gateway, folder)).toBe('');
    });
  });
});
