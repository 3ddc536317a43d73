import { readFileSync } from 'node:fs';
import { startProbe } from '../boot/probe-app.fixture.js';
import { releaseOf } from './build-info.js';

describe('gateway_build_info', () => {
  it('names service, release and Node', async () => {
    const probe = await startProbe();
    const metrics = await (await fetch(`${probe.url}/metrics`)).text();
    await probe.close();
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(metrics).toMatch(
      new RegExp(
        `^gateway_build_info\\{service="[a-z-]+",version="${version}",node="${process.version}"\\} 1$`,
        'm',
      ),
    );
  });

  it('is unknown where no package.json stands above', () => {
    expect(releaseOf('/')).toBe('unknown');
  });
});
